//! Which runtimes are asked for, and how much of them.

use std::str::FromStr;

use store::broker::{InstanceFilter, Standing};
use uuid::Uuid;

use crate::instances::{Caller, Error};

/// The most runtimes on one page.
pub const LARGEST_PAGE: u32 = 100;

/// Which runtimes are asked for. What is empty does not choose; what has several values means any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimesQuery {
    /// Which page, from 1.
    pub page: u32,
    /// How many runtimes are on a page.
    pub page_size: u32,
    /// Global accounts.
    pub accounts: Vec<String>,
    /// Subaccounts.
    pub subaccounts: Vec<String>,
    /// Instances.
    pub instances: Vec<String>,
    /// Runtimes. A text that is no UUID is no runtime's id.
    pub runtimes: Vec<String>,
    /// The provider's regions.
    pub regions: Vec<String>,
    /// Names of Shoots, or regular expressions that fit them.
    pub shoots: Vec<String>,
    /// Names of plans.
    pub plans: Vec<String>,
    /// How they stand.
    pub states: Vec<StateWord>,
    /// Only those that have expired.
    pub expired: bool,
    /// Which operations are listed.
    pub detail: Detail,
    /// Whether the wanted Kyma of each is listed.
    pub kyma_config: bool,
    /// Whether the wanted cluster of each is listed.
    pub cluster_config: bool,
}

impl Default for RuntimesQuery {
    fn default() -> Self {
        Self {
            page: 1,
            page_size: LARGEST_PAGE,
            accounts: vec![],
            subaccounts: vec![],
            instances: vec![],
            runtimes: vec![],
            regions: vec![],
            shoots: vec![],
            plans: vec![],
            states: vec![],
            expired: false,
            detail: Detail::All,
            kyma_config: false,
            cluster_config: false,
        }
    }
}

/// Which operations are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// All of them, of updates and upgrades the newest two.
    #[default]
    All,
    /// Operations of the same sort as the newest.
    Last,
}

/// A word that chooses by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateWord {
    /// It stands so.
    Is(Standing),
    /// It was removed, and something is left over.
    DeprovisionIncomplete,
    /// However it stands.
    All,
}

const INCOMPLETE: &str = "deprovisionincomplete";
const ALL: &str = "all";

impl StateWord {
    /// All words, for people.
    pub fn words() -> Vec<&'static str> {
        Standing::ALL.into_iter().map(Standing::as_str).chain([INCOMPLETE, ALL]).collect()
    }
}

impl FromStr for StateWord {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            INCOMPLETE => Ok(Self::DeprovisionIncomplete),
            ALL => Ok(Self::All),
            word => word.parse().map(Self::Is),
        }
    }
}

impl RuntimesQuery {
    /// Whether those are asked for whose rows are gone.
    pub(super) fn asks_for_removed(&self) -> bool {
        self.states.contains(&StateWord::Is(Standing::Deprovisioned))
    }

    /// The filter for the store, without the Shoots; none when this caller cannot find anything.
    pub(super) fn filter(&self, caller: &Caller) -> Result<Option<InstanceFilter>, Error> {
        self.check()?;
        let accounts = match &caller.tenant {
            Some(own) if self.accounts.is_empty() || self.accounts.contains(own) => {
                vec![own.clone()]
            }
            Some(_) => return Ok(None),
            None => self.accounts.clone(),
        };
        let runtimes: Vec<Uuid> = self.runtimes.iter().filter_map(|id| id.parse().ok()).collect();
        if runtimes.is_empty() && !self.runtimes.is_empty() {
            return Ok(None);
        }
        let only_incomplete = matches!(self.states.as_slice(), [StateWord::DeprovisionIncomplete]);
        Ok(Some(InstanceFilter {
            accounts,
            subaccounts: self.subaccounts.clone(),
            plans: self.plans.clone(),
            regions: self.regions.clone(),
            shoots: Vec::new(),
            runtimes,
            ids: self.instances.clone(),
            deleted: only_incomplete.then_some(true),
            expired: self.expired.then_some(true),
            standings: if only_incomplete { None } else { self.standings() },
            or_left_over: self.states.contains(&StateWord::DeprovisionIncomplete),
            after: None,
            skip: (self.page - 1).saturating_mul(self.page_size),
            most: self.page_size,
        }))
    }

    /// Without a word, those are left out whose newest operation has removed them.
    fn standings(&self) -> Option<Vec<Standing>> {
        if self.states.is_empty() {
            let gone = [Standing::Suspended, Standing::Deprovisioned];
            return Some(Standing::ALL.into_iter().filter(|word| !gone.contains(word)).collect());
        }
        if self.states.contains(&StateWord::All) {
            return None;
        }
        let standing = |word: &StateWord| match word {
            StateWord::Is(standing) => Some(*standing),
            StateWord::DeprovisionIncomplete | StateWord::All => None,
        };
        Some(self.states.iter().filter_map(standing).collect())
    }

    fn check(&self) -> Result<(), Error> {
        if self.page == 0 || !(1..=LARGEST_PAGE).contains(&self.page_size) {
            return Err(Error::Bad(format!(
                "page begins at 1, and page_size is from 1 to {LARGEST_PAGE}"
            )));
        }
        let chosen = [
            ("subaccount", self.subaccounts.is_empty()),
            ("plan", self.plans.is_empty()),
            ("region", self.regions.is_empty()),
            ("shoot", self.shoots.is_empty()),
            ("runtime_id", self.runtimes.is_empty()),
            ("expired", !self.expired),
        ];
        match chosen.into_iter().find(|(_, empty)| !empty) {
            Some((name, _)) if self.asks_for_removed() => Err(Error::Bad(format!(
                "{name} does not go together with state deprovisioned: of what is removed, only instance_id and \
                 account are known"
            ))),
            _ => Ok(()),
        }
    }
}
