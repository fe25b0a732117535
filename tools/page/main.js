// SPDX-License-Identifier: GPL-2.0-only
/* Draws each section that the page has. What fails is said in the page. */

function showFailure(error) {
	document.getElementById('answer').append(element('p', {class: 'warning', role: 'alert'},
		'The pictures cannot be drawn here: ' + error.message));
}

/* What is chosen, as the address has it behind '#': "range=12-40&function=memset&search=mem". */
function stateText(page) {
	const state = new URLSearchParams();
	if (!page.whole())
		state.set('range', page.from + '-' + page.to);
	if (page.selected >= 0)
		state.set('function', page.data.rows.name[page.selected]);
	if (page.words)
		state.set('search', page.words);
	return state.toString();
}

function readState(page, text) {
	const state = new URLSearchParams(text), range = /^(\d+)-(\d+)$/.exec(state.get('range'));
	if (range && Number(range[1]) < Number(range[2]))
		page.range(Number(range[1]), Number(range[2]));
	if (state.has('function'))
		page.select(page.data.rows.name.indexOf(state.get('function')));
	if (state.has('search'))
		page.search(state.get('search'));
}

function keepState(page) {
	const text = stateText(page);
	history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
}

async function main() {
	const script = document.getElementById('data');
	const views = {functions: tableView, image: imageView, time: timeView,
		threads: threadsView, code: codeView, flame: flameView};
	if (!script)
		return;
	const page = makePage(await readData(script)), state = location.hash.slice(1);
	for (const [id, view] of Object.entries(views)) {
		const section = document.getElementById(id);
		if (section)
			view(section, page);
	}
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		() => page.tell('scheme'));
	if (state.includes('='))
		readState(page, state);
	for (const what of ['range', 'select', 'search'])
		page.on(what, () => keepState(page));
	document.documentElement.dataset.ready = 'yes';
}

main().catch(showFailure);
