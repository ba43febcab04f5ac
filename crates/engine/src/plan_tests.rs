use super::*;
use crate::step::done;

struct Nothing;

impl Operation for Nothing {
    const KIND: &'static str = "nothing";
    type Input = ();
    type Data = ();
    type Memory = ();
    type Env = ();
}

macro_rules! steps {
    ($($step:ident),*) => {$(
        struct $step;
        impl Step<Nothing> for $step {
            const NAME: &'static str = stringify!($step);
            async fn run(&self, _: &mut Cx<'_, Nothing>) -> StepResult {
                done()
            }
        }
    )*};
}

steps!(First, Second, Third);

fn within_an_hour() -> Plan<Nothing> {
    Plan::within(Duration::from_secs(3600))
}

fn problem(plan: Plan<Nothing>) -> Problem {
    plan.check().err().expect("the plan is refused").problem
}

#[test]
fn steps_run_by_weight_and_then_as_written() {
    let plan = within_an_hour()
        .stage("only")
        .step(First.weight(7))
        .step(Second)
        .step(Third)
        .check()
        .unwrap();

    let order: Vec<_> = plan.shape.stages[0].steps.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(order, ["Second", "Third", "First"]);
}

#[test]
fn a_step_that_is_switched_off_is_not_in_the_plan() {
    let plan = within_an_hour()
        .stage("a")
        .step(First.switched(false))
        .stage("b")
        .step(Second)
        .check()
        .unwrap();

    assert_eq!(plan.shape.stages.len(), 1);
    assert_eq!(plan.shape.stages[0].name, "b");
}

#[test]
fn a_plan_tells_in_words_when_a_step_runs_and_what_is_off_because_of_what() {
    let on_mondays = Condition::new("it is Monday", |_| Applies::Yes);

    let plan = within_an_hour()
        .reaching(["the clock"])
        .stage("a")
        .step(First.when(on_mondays).needs("the clock"))
        .step(Second.needs("the moon").labelled("b"))
        .check()
        .unwrap();

    let first = &plan.shape.stages[0].steps[0];
    assert_eq!(first.conditions, ["it is Monday"]);
    assert_eq!(first.needs.as_deref(), Some("the clock"));
    let off = OffShape { stage: "b".into(), step: "Second".into(), needs: Some("the moon".into()) };
    assert_eq!(plan.shape.off, [off]);
}

#[test]
fn a_plan_may_take_as_long_as_its_steps_one_after_the_other() {
    let minute = Duration::from_secs(60);

    let plan = within_an_hour()
        .stage("a")
        .step(First.failing_for(minute))
        .stage("b")
        .step(Second.failing_for(minute).waiting_for(2 * minute))
        .check()
        .unwrap();

    assert_eq!(plan.shape.budget(), 4 * minute);
}

#[test]
fn a_step_on_its_own_is_a_stage_of_its_name() {
    let plan = within_an_hour().each(First).each(Second.or_leave("a second")).check().unwrap();

    let stages: Vec<_> = plan.shape.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(stages, ["First", "Second"]);
    let left: Vec<_> = plan.shape.all_steps().filter_map(|step| step.leaves).collect();
    assert_eq!(left, ["a second"]);
}

#[test]
fn plans_that_cannot_work_are_refused_with_the_reason() {
    assert_eq!(problem(within_an_hour()), Problem::Empty);
    assert_eq!(problem(within_an_hour().stage("a").step(First.switched(false))), Problem::Empty);
    assert_eq!(problem(Plan::within(Duration::ZERO).stage("a").step(First)), Problem::NoTime);
    assert_eq!(problem(within_an_hour().step(First)), Problem::NoStageFor("First".into()));
    assert_eq!(problem(within_an_hour().stage("a")), Problem::EmptyStage("a".into()));
    assert_eq!(
        problem(within_an_hour().stage("a").step(First).stage("a").step(Second)),
        Problem::TwoStages("a".into())
    );
    assert_eq!(
        problem(within_an_hour().stage("a").step(First).stage("b").step(First)),
        Problem::TwoSteps("First".into())
    );
    assert_eq!(problem(within_an_hour().stage("a,b").step(First)), Problem::BadName("a,b".into()));
    assert_eq!(
        problem(within_an_hour().stage("a").step(First.weight(0))),
        Problem::NoWeight("First".into())
    );
    assert_eq!(
        problem(within_an_hour().stage("a").step(First.when(Condition::new("", |_| Applies::Yes)))),
        Problem::NoWords("First".into())
    );
    assert!(matches!(
        problem(within_an_hour().stage("a").step(First.failing_for(Duration::ZERO))),
        Problem::NeverTried(..)
    ));
    assert_eq!(
        problem(
            within_an_hour()
                .stage("a")
                .step(PlannedStep::new(First).retry(Retry::every(Duration::ZERO)))
        ),
        Problem::NoPause("First".into())
    );
}
