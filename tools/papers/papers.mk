# `make papers` makes build/papers/index.html: the tables, examples and figures of the papers, with
# the tool's numbers beside the printed ones. Each page is a module of tools/papers, listed in
# tools/papers/papers.py.

.PHONY: papers
papers: $(APPELL) ## the papers' tables and figures with our numbers: build/papers/index.html
	@tools/papers/papers.py --program $(APPELL) --out $(BUILD)/papers $(if $(PAGE),--page $(PAGE))
