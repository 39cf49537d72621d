"""Pure functions from model to sheets: what each pane shows, without a UI."""
