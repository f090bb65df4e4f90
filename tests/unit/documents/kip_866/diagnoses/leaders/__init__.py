"""Facts about diagnoses of leaders."""
