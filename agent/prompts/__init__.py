"""The words that Pidjin gives to models: rules with ids, composed in a fixed order."""
