"""Records of a forger who owns the server: what verification refuses, and what only a mark shows.

The forger knows the secret, repairs every link and the seal, and writes frames, draws and deals to
match. Whatever differs in a fact must be refused, or be named here as something that no record can
show by itself; then it is refused as soon as a player gives the mark that they kept.
"""
