"""All tests. A package, so that tests may share their builders."""
