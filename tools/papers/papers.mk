# `make papers`: the tables, examples and figures of the papers with our numbers beside theirs. The tool computes
# them: build/papers/index.html. Each page is a file, listed in tools/papers/papers.py.

.PHONY: papers
papers: $(APPELL) ## the papers' tables and figures with our numbers: build/papers/index.html
	@tools/papers/papers.py --program $(APPELL) --out $(BUILD)/papers $(if $(PAGE),--page $(PAGE))
