"""Diagnoses of what znodes below /config hold (quotas, credentials, configs of topics): kept, lost, or there again."""
