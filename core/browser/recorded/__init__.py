"""What servers answered to a page: recorded as it comes, and given again without asking them."""
