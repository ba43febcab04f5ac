-- Under which tenant the Director has the runtime, once the runtime's own is another one.
ALTER TABLE runtimes ADD COLUMN registered_tenant text CHECK (registered_tenant <> '');
