"""The audit: folds the whole log, and says what the books come to and which promises were broken, and where.

Shares nothing with the worker and its ledger: ids, amounts and results are worked out anew, from the facts, the inputs
that are still kept, and the rules. What it remembers is bounded by what is going on, not by the length of the log: see
`accounts` and `rounds`.
"""

from pokdeng.history.audit.auditor import Auditor, Report, audit
from pokdeng.history.audit.findings import Findings, Promise

__all__ = ["Auditor", "Findings", "Promise", "Report", "audit"]
