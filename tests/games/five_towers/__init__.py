"""The rules of Five Towers, chapter by chapter; names cite the sections of its `RULES.md`."""
