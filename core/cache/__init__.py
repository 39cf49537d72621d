"""Why a prompt cache was kept or lost: figures, prefix, verdict. Pure."""
