// SPDX-License-Identifier: GPL-2.0-only
/* Draws each section that the page has. What fails is said in the page. */

function showFailure(error) {
	document.getElementById('answer').append(element('p', {class: 'warning', role: 'alert'},
		'The pictures cannot be drawn here: ' + error.message));
}

/*
 * What is chosen, as the address has it behind '#': "range=12-40&function=memset&search=mem"; of
 * several rows of one name, "nth=1" is the second.
 */
function stateText(page) {
	const state = new URLSearchParams();
	if (!page.whole())
		state.set('range', page.from + '-' + page.to);
	if (page.selected >= 0) {
		const name = page.data.rows.name[page.selected];
		const nth = rowsNamed(page, name).indexOf(page.selected);
		state.set('function', name);
		if (nth > 0)
			state.set('nth', nth);
	}
	if (page.words)
		state.set('search', page.words);
	return state.toString();
}

function rowsNamed(page, name) {
	return [...page.data.rows.name.keys()].filter((row) => page.data.rows.name[row] === name);
}

function readState(page, text) {
	const state = new URLSearchParams(text), range = /^(\d+)-(\d+)$/.exec(state.get('range'));
	if (range && page.to > Number(range[1]) && Number(range[1]) < Number(range[2]))
		page.range(Number(range[1]), Number(range[2]));
	if (state.has('function'))
		page.select(rowsNamed(page, state.get('function'))[Number(state.get('nth'))] ?? -1);
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
