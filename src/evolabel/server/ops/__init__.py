"""The service in operation: configuration, metrics, verification, backups, messages, the demonstration."""
