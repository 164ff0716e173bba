"""What becomes of operations: the reference that the script in Redis must equal. One `Decision` is one script call."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from pokdeng.events.ids import AccountId, BetId, Minor
from pokdeng.events.reasons import BetReason, TransferKind, TransferReason
from pokdeng.ledger.memory_store import After, Balance, Bet, Bucket, Moved, RoundKey, TransferName
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.ledger.values import (
    LARGEST_AFTER_DEPOSIT_MINOR,
    LARGEST_MINOR,
    Answer,
    BetRecord,
    BetState,
    Hold,
    Operation,
    Refuse,
    Revise,
    Settle,
    Source,
    Status,
    Transfer,
    Withdraw,
)

_LARGEST_REVISION: Final = 2**24 - 1
_DUPLICATE: Final = Answer(Status.DUPLICATE, is_fresh=False)
_CONFLICT: Final = Answer(Status.CONFLICT, is_fresh=False)
_ABSENT: Final = Answer(Status.ABSENT, is_fresh=False)
_FORGOTTEN: Final = Answer(Status.FORGOTTEN, is_fresh=False)


class Decision:
    """Operations decided on one bucket, in order, without changing it until `write`."""

    def __init__(self, bucket: Bucket) -> None:
        """Begin with the bucket as it is."""
        self._bucket = bucket
        self._accounts: dict[AccountId, Balance] = {}
        self._bets: dict[tuple[RoundKey, BetId], Bet] = {}
        self._transfers: dict[TransferName, Moved] = {}
        self._highest: dict[Source, int] = {}

    def decide(self, operation: Operation | Revise) -> Answer:
        """Decide one operation. Raises LedgerCorruptError: then nothing of this decision may be written."""
        balance = self._balance(operation.account)
        match operation:
            case Hold():
                return self._known(operation) or self._hold(operation, balance)
            case Refuse():
                return self._known(operation) or self._refuse(operation, operation.reason)
            case Withdraw():
                return self._withdraw(operation, balance)
            case Settle():
                return self._settle(operation, balance)
            case Transfer():
                return self._transfer(operation, balance)
            case Revise():
                return self._revise(operation, balance)
            case _:
                assert_never(operation)

    def write(self, *, transfers_expire_at_ms: int) -> None:
        """Make it so."""
        bucket = self._bucket
        bucket.accounts.update(self._accounts)
        for (round_, bet_id), bet in self._bets.items():
            bucket.rounds.setdefault(round_, {})[bet_id] = bet
        for name, moved in self._transfers.items():
            bucket.transfers[name] = moved
            bucket.expiry["transfers", name] = transfers_expire_at_ms
        for source, offset in self._highest.items():
            bucket.sources[source].highest_offset = offset

    def _hold(self, hold: Hold, balance: Balance | None) -> Answer:
        _check_amount(hold.taken, f"bet {hold.bet_id} takes")
        if balance is not None and balance.currency != hold.currency:
            return self._refuse(hold, BetReason.CURRENCY_MISMATCH)
        if balance is None or balance.available < hold.taken:
            return self._refuse(hold, BetReason.INSUFFICIENT_FUNDS)
        after = self._move(hold.account, balance, available=-hold.taken, held=hold.taken)
        record = _record(hold, BetState.ACCEPTED, taken=hold.taken)
        self._bets[_name(hold)] = Bet(record, after)
        return _moved(after, is_fresh=True)

    def _refuse(self, bet: Hold | Refuse, reason: BetReason) -> Answer:
        self._bets[_name(bet)] = Bet(_record(bet, BetState.REFUSED, reason=reason), None)
        return Answer(Status.REFUSED, is_fresh=True, reason=reason.value)

    def _known(self, bet: Hold | Refuse) -> Answer | None:
        """The answer where the bet was decided before, None where it was not."""
        known = self._bet(bet)
        if known is None:
            return None
        record = known.record
        if record.offset == bet.offset:
            if record.reason is not None:
                return Answer(Status.REFUSED, is_fresh=False, reason=record.reason.value)
            return _moved(known.after_hold, is_fresh=False)
        is_same = (record.account, record.bet, record.stake, record.currency) == (
            bet.account,
            bet.bet,
            bet.stake,
            bet.currency,
        )
        return _DUPLICATE if is_same else _CONFLICT

    def _withdraw(self, withdraw: Withdraw, balance: Balance | None) -> Answer:
        known = self._bet(withdraw)
        if known is None or known.record.account != withdraw.account:
            return _ABSENT
        record = known.record
        if record.state is BetState.WITHDRAWN:
            return _moved(known.after_end, is_fresh=False) if known.cancel_offset == withdraw.offset else _DUPLICATE
        if record.state is not BetState.ACCEPTED:
            return _ABSENT
        after = self._move(withdraw.account, balance, available=record.taken, held=-record.taken)
        record = replace(record, state=BetState.WITHDRAWN, returned=record.taken, cancel_offset=withdraw.offset)
        self._bets[_name(withdraw)] = Bet(record, known.after_hold, withdraw.offset, after)
        return _moved(after, is_fresh=True)

    def _settle(self, settle: Settle, balance: Balance | None) -> Answer:
        _check_amount(settle.returned, f"bet {settle.bet_id} returns")
        if not 1 <= settle.revision <= _LARGEST_REVISION:
            raise LedgerCorruptError(f"bet {settle.bet_id} is settled in revision {settle.revision}")
        known = self._bet(settle)
        if known is None or known.record.account != settle.account:
            return _ABSENT
        record = known.record
        if known.is_settled_anew:
            raise LedgerCorruptError(
                f"bet {settle.bet_id} is to be settled in revision {settle.revision}, it was settled anew since"
            )
        if record.state is BetState.SETTLED and record.revision == settle.revision:
            if record.returned != settle.returned:
                raise LedgerCorruptError(
                    f"bet {settle.bet_id}: revision {settle.revision} returned {record.returned}, "
                    f"now it is to return {settle.returned}"
                )
            return _moved(known.after_end, is_fresh=False)
        if record.state is not BetState.ACCEPTED:
            return _ABSENT
        after = self._move(settle.account, balance, available=settle.returned, held=-record.taken)
        record = replace(record, state=BetState.SETTLED, returned=settle.returned, revision=settle.revision)
        self._bets[_name(settle)] = Bet(record, known.after_hold, None, after)
        return _moved(after, is_fresh=True)

    def _revise(self, revise: Revise, balance: Balance | None) -> Answer:
        _check_amount(revise.reversed, f"bet {revise.bet_id} reverses")
        _check_amount(revise.returned, f"bet {revise.bet_id} returns")
        if not 2 <= revise.revision <= _LARGEST_REVISION:  # noqa: PLR2004 - the first follows none
            raise LedgerCorruptError(f"bet {revise.bet_id} is settled anew in revision {revise.revision}")
        known = self._bet(revise)
        if known is None or known.record.account != revise.account or known.record.state is not BetState.SETTLED:
            raise LedgerCorruptError(f"bet {revise.bet_id} of {revise.account} is not settled: {known}")
        if balance is None:
            raise LedgerCorruptError(f"account {revise.account}: missing, yet it has a settled bet")
        record = known.record
        if record.revision == revise.revision:
            amounts = (record.reversed, record.returned)
            if not known.is_settled_anew or amounts != (revise.reversed, revise.returned):
                raise LedgerCorruptError(f"bet {revise.bet_id} was settled otherwise: {record}, not {revise}")
            return _moved(known.after_end, is_fresh=False)
        if (record.revision, record.returned) != (revise.revision - 1, revise.reversed):
            raise LedgerCorruptError(f"bet {revise.bet_id} is {record}, it cannot become {revise}")
        _check_range(balance.available - revise.reversed, balance.held + record.taken, revise)
        after = After(balance.available - revise.reversed + revise.returned, balance.held, balance.sequence + 2)
        _check_range(after.available, after.held, revise)
        self._accounts[revise.account] = Balance(balance.currency, *after)
        record = replace(record, returned=revise.returned, revision=revise.revision, reversed=revise.reversed)
        self._bets[_name(revise)] = Bet(record, known.after_hold, None, after, is_settled_anew=True)
        return _moved(after, is_fresh=True)

    def _transfer(self, transfer: Transfer, balance: Balance | None) -> Answer:
        _check_amount(transfer.amount, f"transfer {transfer.transfer} of")
        name = (transfer.kind, transfer.account, transfer.transfer)
        highest = self._highest.get(transfer.source, self._bucket.sources[transfer.source].highest_offset)
        self._highest[transfer.source] = max(highest, transfer.offset)
        known = self._transfers.get(name) or self._bucket.transfers.get(name)
        if known is not None:
            if known.offset != transfer.offset:
                is_same = (known.amount, known.currency) == (transfer.amount, transfer.currency)
                return _DUPLICATE if is_same else _CONFLICT
            if known.reason is not None:
                return Answer(Status.REFUSED, is_fresh=False, reason=known.reason)
            return _moved(known.after, is_fresh=False)
        if transfer.offset <= highest:
            return _FORGOTTEN
        reason = transfer.refused or _reason_against(transfer, balance)
        after = None
        if reason is None:
            before = balance or Balance(transfer.currency, 0, 0, 0)
            amount = transfer.amount if transfer.kind is TransferKind.DEPOSIT else -transfer.amount
            after = self._move(transfer.account, before, available=amount, held=0)
        text = None if reason is None else reason.value
        self._transfers[name] = Moved(transfer.offset, transfer.amount, transfer.currency, text, after)
        if reason is None:
            return _moved(after, is_fresh=True)
        return Answer(Status.REFUSED, is_fresh=True, reason=text)

    def _move(self, account: AccountId, balance: Balance | None, *, available: int, held: int) -> After:
        if balance is None:
            raise LedgerCorruptError(f"account {account}: missing, yet it holds a bet")
        moved = balance._replace(
            available=balance.available + available, held=balance.held + held, sequence=balance.sequence + 1
        )
        if moved.held < 0 or moved.available + moved.held > LARGEST_MINOR:
            raise LedgerCorruptError(f"account {account}: {balance} cannot become {moved}")
        self._accounts[account] = moved
        return After(moved.available, moved.held, moved.sequence)

    def _balance(self, account: AccountId) -> Balance | None:
        balance = self._accounts.get(account) or self._bucket.accounts.get(account)
        if balance is not None and not balance.is_sound:
            raise LedgerCorruptError(f"account {account}: {balance}")
        return balance

    def _bet(self, of: Hold | Refuse | Withdraw | Settle | Revise) -> Bet | None:
        name = _name(of)
        return self._bets.get(name) or self._bucket.rounds.get(name[0], {}).get(of.bet_id)


def _name(of: Hold | Refuse | Withdraw | Settle | Revise) -> tuple[RoundKey, BetId]:
    return (of.table, of.round), of.bet_id


def _record(of: Hold | Refuse, state: BetState, *, taken: int = 0, reason: BetReason | None = None) -> BetRecord:
    return BetRecord(
        account=of.account,
        table=of.table,
        round=of.round,
        bet_id=of.bet_id,
        bet=of.bet,
        stake=of.stake,
        currency=of.currency,
        offset=of.offset,
        state=state,
        reason=reason,
        taken=Minor(taken),
        returned=Minor(0),
        revision=0,
    )


def _moved(after: After | None, *, is_fresh: bool) -> Answer:
    if after is None:
        raise LedgerCorruptError("a movement without the balance after it")
    return Answer(Status.MOVED, is_fresh, None, *after)


def _reason_against(transfer: Transfer, balance: Balance | None) -> TransferReason | None:
    """Why a transfer cannot be done, None where it can."""
    if balance is not None and balance.currency != transfer.currency:
        return TransferReason.CURRENCY_MISMATCH
    if transfer.kind is TransferKind.WITHDRAWAL:
        if balance is None or balance.available < transfer.amount:
            return TransferReason.INSUFFICIENT_FUNDS
        return None
    total = 0 if balance is None else balance.available + balance.held
    return TransferReason.AMOUNT_OUT_OF_RANGE if total + transfer.amount > LARGEST_AFTER_DEPOSIT_MINOR else None


def _check_range(available: int, held: int, revise: Revise) -> None:
    if available < -LARGEST_MINOR or max(held, available + held) > LARGEST_MINOR:
        raise LedgerCorruptError(f"account {revise.account}: {available} and {held} pass 2^53 - 1, by {revise}")


def _check_amount(amount: int, what: str) -> None:
    if not 0 <= amount <= LARGEST_MINOR:
        raise LedgerCorruptError(f"{what} {amount}, outside of 0 .. 2^53 - 1")
