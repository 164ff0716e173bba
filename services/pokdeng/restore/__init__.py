"""What the log says the ledger must hold, and how a ledger is filled from it. Folds facts; never decides."""
