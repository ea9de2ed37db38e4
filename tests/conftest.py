"""What every test shares."""

pytest_plugins = ["datadriven"]
