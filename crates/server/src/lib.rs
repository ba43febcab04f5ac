//! Settings, wiring, telemetry, shutdown.
