"""What comes in: one folder per source. Sources know the model, never the engines."""
