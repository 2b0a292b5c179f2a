"""The Models page: find a model, see what it takes on this computer, choose how it is to run."""
