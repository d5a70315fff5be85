"""Values for the string formats of the Management API's description that schemathesis does not know."""

import schemathesis
from hypothesis import strategies as st

# Between the bounds that the description says in words, and every step within every duration.
schemathesis.openapi.format("duration", st.integers(5, 43_200).map(lambda minutes: f"PT{minutes}M"))
