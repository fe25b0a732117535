// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison: its rows are in the page. They are filtered and selected here, and what is
 * selected lights up in the images of both sides. tools/diff/html.c says what the data is.
 */

/* {image, at} of each row of a side's own data: its number. */
function placesOf(page) {
	const {rows} = page.data, places = new Map();
	for (let i = 0; i < page.n; i++)
		if (rows.image[i] >= 0)
			places.set(rows.image[i] + ':' + rows.at[i], i);
	return places;
}

/* For each row of the comparison the side's row, or -1. */
function matchRows(rows, side, places) {
	return rows['image' + side].map((image, i) =>
		places.get(image + ':' + rows['at' + side][i]) ?? -1);
}

function diffView(section, data, pages) {
	const body = section.querySelector('tbody'), all = [...body.querySelectorAll('tr')];
	const {said} = putFilter(section, filter);
	const match = pages.map((page, side) => matchRows(data.rows, side, placesOf(page)));
	let selected = -1;

	function select(row) {
		if (row === selected)
			return;
		selected = row;
		for (const tr of all)
			tr.setAttribute('aria-selected', Number(tr.dataset.row) === row);
		pages.forEach((page, side) => page.select(row < 0 ? -1 : match[side][row]));
	}

	function filter(text) {
		const words = text.trim().toLowerCase();
		let n = 0;
		for (const tr of all) {
			tr.hidden = !tr.lastChild.textContent.toLowerCase().includes(words);
			n += !tr.hidden;
		}
		said.textContent = words ? `${count(n)} of ${count(all.length)} rows` : '';
		for (const page of pages)
			page.search(words);
	}

	for (const tr of all) {
		tr.tabIndex = 0;
		tr.setAttribute('aria-selected', false);
	}
	section.querySelector('table').setAttribute('role', 'grid');
	body.addEventListener('click', (event) => {
		const tr = event.target.closest('tr');
		if (tr && getSelection().isCollapsed)
			select(Number(tr.dataset.row) === selected ? -1 : Number(tr.dataset.row));
	});
	body.addEventListener('keydown', (event) => {
		const tr = event.target.closest('tr'), shown = all.filter((one) => !one.hidden);
		const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
		const next = shown[shown.indexOf(tr) + step];
		if (step && next)
			next.focus();
		if (event.key === 'Enter' || event.key === ' ' || (step && next))
			select(Number((next || tr).dataset.row));
		else
			return;
		event.preventDefault();
	});
	/* A click in the image of one side selects in both. */
	pages.forEach((page, side) => page.on('select', () => {
		if (page.selected >= 0)
			select(match[side].indexOf(page.selected));
	}));
}

async function drawDiff() {
	const script = document.getElementById('data');
	if (!script)
		return;
	const data = await readData(script), pages = [];
	for (const side of ['before', 'after']) {
		pages.push(makePage(await readData(document.getElementById('data-' + side))));
		imageView(document.getElementById('image-' + side), pages[pages.length - 1]);
	}
	diffView(document.getElementById('functions'), data, pages);
	finishPage(pages);
}

drawDiff().catch(showFailure);
