"""What a model needs of this computer's memory, and which quantization to take."""
