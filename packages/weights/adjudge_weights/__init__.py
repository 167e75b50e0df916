"""The encoders of adjudge's local judge: files, and no code."""
