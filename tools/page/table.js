// SPDX-License-Identifier: GPL-2.0-only
/* The functions: sorted, filtered, and selected. Of many rows only those in sight are elements. */

/* What is no function says what it is. */
const KINDS = ['', 'label', '', '', '', ''];
const ROW_HEIGHT = 26; // px; as page.css has it
const BAR_WIDTH = 100;
const DRAWN_ROWS = 34; // page.css has room for 20; 6 above these, and 8 below
const PAPER_ROWS = 200; // as many as there are without scripts

/* Columns: what they are sorted by first (1: ascending), and their cells. */
const COLUMNS = [
	{key: 'share', heading: 'share', first: -1},
	{key: 'with', heading: 'with callees', first: -1,
		title: 'share of the samples in what the function calls, and its own; VM exits are in no row'},
	{key: 'bar', heading: 'as a bar', unseen: true},
	{key: 'interval', heading: '95 % interval', wide: true},
	{key: 'amount', first: -1},
	{key: 'samples', heading: 'samples', first: -1},
	{key: 'name', heading: 'name', first: 1},
	{key: 'size', heading: 'bytes', first: -1, wide: true},
	{key: 'heat', heading: 'heat', first: -1, wide: true,
		title: 'share for each byte, as a multiple of the mean of all code'},
	{key: 'address', heading: 'address', first: 1, wide: true},
];

function sortValue(page, key) {
	const rows = page.data.rows;
	switch (key) {
	case 'name':
		return () => 1;
	case 'with':
		return (row) => page.with[row] || 0;
	case 'samples':
		return (row) => page.samples(row) || page.counts[row];
	case 'size':
		return (row) => rows.size[row];
	case 'heat':
		return (row) => (rows.size[row] ? page.counts[row] / rows.size[row] : 0);
	case 'address':
		return (row) => (rows.image[row] < 0 ? Infinity : rows.image[row] * 2 ** 53 + rows.at[row]);
	default:
		return (row) => page.counts[row];
	}
}

/* Numbers of the rows that are shown, in order. Rows keep the report's order where they are equal. */
function orderRows(page, key, direction) {
	const {lowerNames} = page, values = new Float64Array(page.n), some = [], none = [];
	const value = sortValue(page, key), all = page.words === '';
	for (let row = 0; row < page.n; row++)
		if (all || page.matches(row)) {
			values[row] = value(row);
			(values[row] ? some : none).push(row);
		}
	const compare = key !== 'name' ? (a, b) => values[a] - values[b] :
		(a, b) => (lowerNames[a] > lowerNames[b]) - (lowerNames[a] < lowerNames[b]);
	/* In a range most have nothing: they are in order already. */
	some.sort((a, b) => direction * compare(a, b) || a - b);
	return direction < 0 ? some.concat(none) : none.concat(some);
}

/* May the next row have as much? As the report has it; of a range as its intervals have it. */
function isNextUnsure(page, order, place) {
	const row = order[place], next = order[place + 1];
	if (page.whole())
		return Boolean(page.data.rows.unsure[row]);
	return page.counts[next] > 0 && page.interval(row)[0] <= page.interval(next)[1];
}

/* Rows in a chain of which each may have as much as the next: their order is not established. */
function isUnsure(page, order, place) {
	return isNextUnsure(page, order, place) ||
		(place > 0 && isNextUnsure(page, order, place - 1));
}

function barOf(page, row, scale) {
	const [low, high] = page.interval(row), x = (share) => (share * scale * BAR_WIDTH).toFixed(1);
	return element('svg', {class: 'bar', width: BAR_WIDTH, height: 12, 'aria-hidden': 'true'},
		element('rect', {y: 2, width: x(page.share(row)), height: 8}),
		element('path', {d: `M${x(low)} 6H${x(high)}M${x(low)} 3V9M${x(high)} 3V9`}));
}

/* "0.3", "12", of how many times as much. */
function multiple(n) {
	return n < 10 ? n.toFixed(1) : count(n);
}

/*
 * Where the last part of a name begins: at its last "::" that is in no brackets; else at its end.
 * What is in front of it gives way first where there is no room.
 */
function lastPart(name) {
	let depth = 0;
	for (let i = name.length - 1; i > 0; i--) {
		if ('>)]}'.includes(name[i]))
			depth++;
		else if ('<([{'.includes(name[i]))
			depth--;
		else if (depth === 0 && name[i] === ':' && name[i - 1] === ':')
			return i - 1;
	}
	return name.length;
}

/*
 * kind: what it is, if it is no function; owner: the image, of several, which is left out where
 * there is little room (page.css). In line, not flexible boxes, which would be copied as lines of
 * their own.
 */
function nameCell(name, kind, owner) {
	const at = lastPart(name), front = element('span', {}, name.slice(0, at));
	const last = element('span', {}, name.slice(at)), box = element('span', {class: 'ends'}, front, last);
	const length = (word) => (word ? word.length + 1 : 0);
	const room = `100% - ${length(kind)}ch - var(--owner, 1) * ${length(owner)}ch`;
	front.style.maxWidth = `max(2ch, calc(${room} - ${name.length - at}ch))`;
	last.style.maxWidth = `calc(${room} - 2ch)`;
	if (kind)
		box.append(element('small', {}, ' ' + kind));
	if (owner)
		box.append(element('small', {class: 'owner'}, ' ' + owner));
	return element('th', {scope: 'row', title: name}, box);
}

function cellsOf(page, row, scale, code) {
	const {rows, images} = page.data, image = images[rows.image[row]];
	const [low, high] = page.interval(row);
	const size = rows.size[row], kind = rows.count[row] ? KINDS[rows.kind[row]] : 'only called from';
	const owner = image && images.length > 1 ? image.name : '';
	return {
		share: element('td', {}, percent(page.share(row))),
		with: element('td', {}, rows.with && page.with[row] >= 0
			? percent(page.withTotal ? page.with[row] / page.withTotal : 0) : ''),
		bar: element('td', {}, barOf(page, row, scale)),
		interval: element('td', {}, hundredths(low) + '\u2013' + hundredths(high)),
		amount: element('td', {}, page.data.unit === 'ns' ? amount(page.counts[row], 'ns')
			: count(page.counts[row])),
		samples: element('td', {}, page.samples(row) >= 0 ? count(page.samples(row)) : ''),
		name: nameCell(rows.name[row], kind, owner),
		size: element('td', {}, size ? count(size) : ''),
		heat: element('td', {}, size && code ? multiple(page.share(row) / size * code) : ''),
		address: element('td', {}, image ? address(image, rows.at[row]) : ''),
	};
}

/* What samples weigh is time or an event's count, and stands beside them; else they are alone. */
function shownColumns({rows, unit}) {
	const weighed = unit !== 'samples';
	const own = {amount: {heading: unit === 'ns' ? 'time' : unit}, samples: {wide: weighed}};
	return COLUMNS.filter(({key}) => (key === 'with' ? rows.with : key !== 'amount' || weighed))
		.map((column) => ({...column, ...own[column.key]}));
}

function tableView(section, page) {
	const table = section.querySelector('table'), scroll = section.querySelector('.scroll');
	const columns = shownColumns(page.data);
	const head = element('tr'), body = element('tbody');
	const {input, said} = putFilter(section, page.search);
	const code = codeBytes(page.data.images);
	const rest = element('p', {class: 'summary'}); // on paper: how many are missing
	const line = element('p', {class: 'summary unsure-line'},
		'The order of the rows beside such a line is not established: their intervals overlap.');
	let key = 'share', direction = -1, order = [], drawn = '', paper = false, focused = -1;

	function draw() {
		const high = page.interval(page.top)[1];
		const scale = high > 0 ? 1 / high : 0;
		const first = paper ? 0 : Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - 6);
		const end = Math.min(order.length, paper ? PAPER_ROWS : first + DRAWN_ROWS);
		const state = [first, end, order, page.from, page.to];
		if (drawn && drawn.every((was, i) => was === state[i]))
			return;
		drawn = state;
		const keys = body.contains(document.activeElement) || document.activeElement === scroll;
		body.replaceChildren(spacer(first));
		for (let place = first; place < end; place++)
			body.append(rowOf(place, scale));
		body.append(spacer(order.length - end));
		table.setAttribute('aria-rowcount', order.length + 1);
		rest.hidden = !paper || order.length <= PAPER_ROWS;
		rest.textContent = `${count(order.length - PAPER_ROWS)} more rows are not printed.`;
		mark();
		if (keys)
			keepFocus();
	}

	/* The row that had the keys, or while it is out of sight what scrolls. */
	function keepFocus() {
		const tr = body.querySelector(`tr[data-row="${focused}"]`) || scroll;
		tr.focus({preventScroll: true});
	}

	function spacer(n) {
		const cell = element('td', {colspan: columns.length});
		const row = element('tr', {class: 'spacer', 'aria-hidden': 'true'}, cell);
		cell.style.height = n * ROW_HEIGHT + 'px';
		row.hidden = n === 0;
		return row;
	}

	function rowOf(place, scale) {
		const row = order[place], cells = cellsOf(page, row, scale, code);
		const tr = element('tr', {'data-row': row, 'aria-rowindex': place + 2});
		tr.append(...columns.map((c) => {
			cells[c.key].className = c.key + (c.wide ? ' wide' : '');
			return cells[c.key];
		}));
		if (isRanked() && isUnsure(page, order, place))
			tr.classList.add('unsure');
		return tr;
	}

	/* By share, and none left out. */
	function isRanked() {
		return key === 'share' && direction < 0 && page.words === '';
	}

	/* Which row is selected, and which can be reached by Tab. */
	function mark() {
		const chosen = order.includes(page.selected) ? page.selected : order[0];
		for (const tr of body.querySelectorAll('tr[data-row]')) {
			const row = Number(tr.dataset.row);
			tr.setAttribute('aria-selected', row === page.selected);
			tr.tabIndex = row === chosen ? 0 : -1;
		}
	}

	function say() {
		said.textContent = page.words === '' ? '' : `${count(order.length)} of ${count(page.n)} rows, ` +
			percent(order.reduce((a, row) => a + page.share(row), 0));
	}

	function update() {
		order = orderRows(page, key, direction);
		for (const th of head.children)
			th.setAttribute('aria-sort', th.dataset.key !== key ? 'none'
				: direction < 0 ? 'descending' : 'ascending');
		line.hidden = !isRanked() || !order.some((_, place) => isUnsure(page, order, place));
		say();
		draw();
	}

	/* Makes a place of the order visible, and gives it the focus. */
	function show(place, focus) {
		const top = place * ROW_HEIGHT, room = scroll.clientHeight - 2 * ROW_HEIGHT;
		if (top < scroll.scrollTop)
			scroll.scrollTop = top;
		else if (top > scroll.scrollTop + room)
			scroll.scrollTop = top - room;
		draw();
		if (focus) {
			const tr = body.querySelector(`tr[data-row="${order[place]}"]`);
			if (tr)
				tr.focus({preventScroll: true});
		}
	}

	function move(event) {
		const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity,
			End: Infinity};
		const tr = event.target.closest('tr[data-row]');
		const row = tr ? Number(tr.dataset.row) : event.target === scroll ? focused : -1;
		const place = order.indexOf(row);
		if (place < 0)
			return;
		if (event.key in steps) {
			const to = Math.max(0, Math.min(order.length - 1, place + steps[event.key]));
			page.select(order[to]);
			show(to, true);
		} else if (event.key === 'Enter' || event.key === ' ') {
			page.select(row === page.selected ? -1 : row);
		} else {
			return;
		}
		event.preventDefault();
	}

	for (const column of columns) {
		const th = element('th', {scope: 'col', class: column.key + (column.wide ? ' wide' : ''),
			'data-key': column.key});
		if (column.first) {
			const button = element('button', {type: 'button'}, column.heading);
			button.addEventListener('click', () => {
				direction = key === column.key ? -direction : column.first;
				key = column.key;
				update();
			});
			th.append(button);
		} else {
			th.append(element('span', column.unseen ? {class: 'unseen'} : {}, column.heading));
		}
		if (column.title)
			th.title = column.title;
		head.append(th);
	}
	table.replaceChildren(element('thead', {}, head), body);
	table.setAttribute('role', 'grid');
	scroll.classList.add('live');
	scroll.tabIndex = -1;
	scroll.after(line, rest);
	scroll.addEventListener('scroll', draw, {passive: true});
	addEventListener('resize', draw);
	for (const type of ['beforeprint', 'afterprint'])
		addEventListener(type, () => {
			paper = type === 'beforeprint';
			draw();
		});
	input.addEventListener('keydown', (event) => {
		if (event.key === 'ArrowDown' && order.length) {
			show(0, true);
			event.preventDefault();
		}
	});
	scroll.addEventListener('keydown', move);
	body.addEventListener('focusin', (event) => {
		focused = Number(event.target.closest('tr').dataset.row);
	});
	body.addEventListener('click', (event) => {
		const tr = event.target.closest('tr[data-row]');
		if (tr && getSelection().isCollapsed)
			page.select(Number(tr.dataset.row) === page.selected ? -1 : Number(tr.dataset.row));
	});
	page.on('select', () => {
		const place = order.indexOf(page.selected);
		if (place >= 0 && !body.contains(document.activeElement))
			show(place, false);
		mark();
	});
	page.on('search', () => {
		if (input.value.trim().toLowerCase() !== page.words)
			input.value = page.words;
		scroll.scrollTop = 0;
		update();
	});
	/* What is with callees is known of a range only where each stack's time is. */
	page.on('range', () => {
		table.classList.toggle('part', !page.whole() && !page.data.stacks);
		update();
	});
	update();
}
