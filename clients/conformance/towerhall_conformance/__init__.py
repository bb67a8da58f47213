"""A kit that checks whether a client, or a server, keeps to the protocol.

Each case cites the clauses that it tries. Neither our server nor our client may be imported here:
the kit reads plain documents, so that it does not share the mistakes of those it judges.
"""
