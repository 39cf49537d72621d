"""One controller per pane: it asks for data in workers and hands sheets to widgets."""
