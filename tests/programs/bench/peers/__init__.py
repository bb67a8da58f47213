"""Other game servers that play the bid game, and how they are measured against ours.

Their packages are installed into `build/peers`, in the versions of `package-lock.json`.
"""
