"""Claims about controllers: one per epoch, and which lives and leaderships they had."""
