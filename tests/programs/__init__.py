"""Programs for developers: `bench` measures, `faults` breaks a service, `mutants` seeds bugs,
`screens` takes pictures of the page.

Each is a package with `--help`. Its own tests are beside it; they are short, and `make test` runs
them.
"""
