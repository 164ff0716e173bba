"""The past, read from the log for people and commands: one round, the dead letters, the books. Writes nothing.

Shares nothing with the worker and its ledger: what is shown here follows from the records alone, so that it can be held
against what the worker did. Folds are pure; only `reading` and what gathers records talks to the log.
"""
