"""Facts about what znodes below /config hold: quotas, credentials, configs of topics."""
