# `make papers`: the tables, examples and figures of the papers with our numbers beside theirs, computed by the
# tool: build/papers/index.html. A page is a file of its own, listed in tools/papers/papers.py.

.PHONY: papers
papers: $(APPELL) ## the papers' tables and figures with our numbers: build/papers/index.html
	@tools/papers/papers.py --program $(APPELL) --out $(BUILD)/papers $(if $(PAGE),--page $(PAGE))
