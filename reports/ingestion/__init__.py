"""Run folders into tables: discovery, verification, the ledger of batches, storage."""
