.PHONY: demo docs demo-stickers demo-adapt demo-extractor demo-orders demo-houses demo-topics demo-digits demo-style demo-questions demo-deployment demo-deployment-keep test bench format setup build conformance tuf-conformance zoo

# A build of the whole package would build the tools of its plugins a second time; `scripts/checks/example-package --from-source` does.
export COREML_WITHOUT_PLUGINS = 1

# ARGS is the input of a demo: each one ends with an example.
ARGS =

setup:
	@scripts/setup

build: setup
	@scripts/build

demo: setup
	@scripts/demo $(ARGS)

demo-stickers: setup
	@DRAWING_EMBEDDING=$$(ls ../shared/models/TinyDrawingEmbedding*.mlmodel 2>/dev/null) swift run -c release demo-stickers $(ARGS)

demo-adapt demo-extractor demo-orders demo-topics demo-digits: setup
	@swift run -c release $@ $(ARGS)

demo-houses: setup
	@$(if $(ARGS),,table=$$(scripts/demos/houses-table) &&) swift run -c release $@ $(if $(ARGS),$(ARGS),"$$table")

demo-style: setup
	@scripts/demos/demo-style $(ARGS)

demo-questions: setup
	@scripts/demos/demo-questions $(ARGS)

demo-deployment: setup
	@scripts/demos/demo-deployment

demo-deployment-keep: setup
	@scripts/demos/demo-deployment --keep

test: setup
	@scripts/test

bench: setup
	@Benchmarks/run

docs: setup
	@scripts/docs

format:
	swift format --in-place --recursive --parallel Sources Tests Oracles Examples Package.swift Server/Sources Server/Tests Server/Package.swift

conformance: setup
	@Oracles/coremltools/check --table

tuf-conformance: setup
	@Oracles/update-framework/conformance

zoo: setup
	@Oracles/zoo/check
