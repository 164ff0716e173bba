"""The worker: reads bets, cards and funds, settles, and says what it decided."""
