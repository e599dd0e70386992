// log_run.cpp: the same calls from C++.   c++ log_run.cpp $(pkg-config --cflags --libs portolan)
#include <portolan/portolan.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

struct Close {
	void operator()(portolan_run *run) const { portolan_close(run, PORTOLAN_WAIT_DEFAULT, nullptr); }
};
using Run = std::unique_ptr<portolan_run, Close>; // closed at the end of its scope, also by an exception

static void check(int code, const portolan_error &error)
{
	if (code < 0)
		throw std::runtime_error(error.message);
}

int main(int argc, char **argv)
try {
	portolan_options options{};
	portolan_error error{};
	portolan_run *opened = nullptr;

	options.store = argc > 1 ? argv[1] : "./portolan-store";
	options.examples = 4;
	options.overwrite = 1;
	check(portolan_open("example", &options, &opened, &error), error);
	Run run(opened);

	const std::vector<std::uint64_t> ids{0, 1, 2, 3};
	const std::vector<std::int32_t> gold{0, 1, 1, 0};
	for (std::uint32_t epoch = 0; epoch < 3; epoch++) {
		const std::vector<float> probs{.5f, .5f, .75f, .25f, 0, 1, 1, 0}; // your model's, a row per example
		check(portolan_log_probs(run.get(), epoch, ids.size(), 2, ids.data(), probs.data(), gold.data(), &error), error);
		check(portolan_end_epoch(run.get(), epoch, &error), error);
	}
	check(portolan_flush(run.get(), PORTOLAN_WAIT_DEFAULT, &error), error);
	return 0;
} catch (const std::exception &problem) {
	std::cerr << problem.what() << '\n';
	return 1;
}
