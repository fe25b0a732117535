// SPDX-License-Identifier: GPL-2.0-only
/* Draws each section that the page has. */

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
	const rows = [];
	page.data.rows.name.forEach((other, row) => other === name && rows.push(row));
	return rows;
}

/* What the text does not say is as at first. */
function readState(page, text) {
	const state = new URLSearchParams(text), range = /^(\d+)-(\d+)$/.exec(state.get('range'));
	const [from, to] = range ? [Number(range[1]), Number(range[2])] : [0, 0];
	const end = page.data.time ? page.data.time.n : 0, name = state.get('function');
	page.range(...(from < to && from < end ? [from, to] : [0, end]));
	page.select(name === null ? -1 : rowsNamed(page, name)[Number(state.get('nth'))] ?? -1);
	page.search(state.get('search') ?? '');
}

/* A link to a section keeps what is chosen; where nothing is, the link stays. */
function followLink(page) {
	const text = location.hash.slice(1);
	if (text.includes('=') || text === '')
		readState(page, text);
	else if (stateText(page))
		keepState(page);
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
	if (state.includes('='))
		readState(page, state);
	for (const what of ['range', 'select', 'search'])
		page.on(what, () => keepState(page));
	addEventListener('hashchange', () => followLink(page));
	finishPage([page]);
}

main().catch(showFailure);
