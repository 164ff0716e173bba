"""The log: a port, Apache Kafka through Faust, an in-memory twin; merge of two topics by broker time. No Pok Deng."""
