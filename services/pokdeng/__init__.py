"""Settlement of live Pok Deng: bets and cards from Kafka, exact balances in Redis, every decision an event."""
