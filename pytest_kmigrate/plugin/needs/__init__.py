"""What tests need of the provider, before they run."""
