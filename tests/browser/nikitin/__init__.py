"""The page of Nikitin Towers in Chromium, with WebGL in software."""
