"""Hypothesis strategies for plain documents, as views and messages are made of them."""

from hypothesis import strategies as st

from towerhall_protocol.codec import MAX_INTEGER

keys = st.text("abc01:+_-", min_size=1, max_size=3)
"""Few and short, so that two documents often share some."""
scalars = (
    st.sampled_from([0, 1, False, True, "", "0"])
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)
documents = st.dictionaries(keys, values, max_size=5)
"""Maps without nulls."""
