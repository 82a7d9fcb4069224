"""The service in operation: configuration, verification, backups, messages, the demonstration."""
