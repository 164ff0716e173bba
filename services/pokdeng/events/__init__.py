"""What can happen, as frozen values: the inputs, the facts this service says, and the reasons of refusals. Pure."""
