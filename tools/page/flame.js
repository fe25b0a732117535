// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graph: frames as wide as their weight in the chosen time, each above the one that
 * called it. Frames keep their order, so that times can be compared.
 */

const FRAME_HEIGHT = 18; // px
const FRAME_LEAST = 0.5; // px: narrower ones are left out
const FRAME_KINDS = ['group', 'host user', 'host kernel', 'guest', 'gap', 'VM exit', 'note'];
const FRAME_CLASSES = ['group', 'user', 'kernel', 'guest', 'gap', 'border', 'note']; // of flame.css

/*
 * The tree with totals, depths, and where each frame begins. Parents stand before children, and
 * what a node has above it stands right behind it.
 */
function flameTree(flame, own = flame.count) {
	const n = flame.parent.length, tree = {
		n, own, total: Float64Array.from(own), depth: new Uint16Array(n),
		at: new Float64Array(n), end: new Uint32Array(n),
	};
	const used = new Float64Array(n);
	for (let i = n - 1; i > 0; i--)
		tree.total[flame.parent[i]] += tree.total[i];
	for (let i = 1; i < n; i++) {
		const parent = flame.parent[i];
		tree.depth[i] = tree.depth[parent] + 1;
		tree.at[i] = tree.at[parent] + used[parent];
		used[parent] += tree.total[i];
	}
	for (let i = n - 1; i >= 0; i--) {
		tree.end[i] = Math.max(tree.end[i], i + 1);
		if (i > 0)
			tree.end[flame.parent[i]] = Math.max(tree.end[flame.parent[i]], tree.end[i]);
	}
	return tree;
}

/*
 * The row of each frame, or -1. A frame is known by its name: those of rows that share theirs
 * cannot be told.
 */
function frameRows(rows, flame) {
	const byName = new Map();
	rows.name.forEach((name, row) => byName.set(name, byName.has(name) ? -1 : row));
	return {
		shared: rows.name.map((name) => byName.get(name) < 0),
		rowOf: flame.name.map((name, i) => (flame.kind[i] === 3 || flame.kind[i] === 4) &&
			byName.has(flame.names[name]) ? byName.get(flame.names[name]) : -1),
	};
}

/*
 * What rows have in stacks, each of which counts once however often a row is in it; NaN of those
 * that share a name.
 */
function inclusiveCounts({shared, rowOf}, tree) {
	const counts = Float64Array.from(shared, (is) => (is ? NaN : 0));
	const ends = new Uint32Array(counts.length); // of each row's last outermost frame
	for (let i = 1; i < tree.n; i++) {
		const row = rowOf[i];
		if (row >= 0 && i >= ends[row]) {
			counts[row] += tree.total[i];
			ends[row] = tree.end[i];
		}
	}
	return counts;
}

/*
 * Frames to draw when `zoomed` is as wide as the picture: its callers, and all above it that can
 * be seen. {node, x, width} in px.
 */
function flameFrames(flame, tree, zoomed, width) {
	const frames = [], scale = tree.total[zoomed] > 0 ? width / tree.total[zoomed] : 0;
	const callers = [];
	for (let i = flame.parent[zoomed]; i >= 0; i = flame.parent[i])
		callers.unshift({node: i, x: 0, width});
	frames.push(...callers);
	for (let i = zoomed; i < tree.end[zoomed];) {
		const w = tree.total[i] * scale;
		if (w < FRAME_LEAST && i) {
			i = tree.end[i];
			continue;
		}
		frames.push({node: i, x: (tree.at[i] - tree.at[zoomed]) * scale, width: w});
		i++;
	}
	return frames;
}

/* One of eight shades, the same for a name wherever it stands. */
function shadeOf(name) {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
	return ((hash ^ hash >>> 16) >>> 0) % 8;
}

/* Gaps are striped, by a pattern that flame.css names. */
function gapPattern() {
	return element('defs', {}, element('pattern', {id: 'hlg-flame-gap', width: 6, height: 6,
		patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
	element('rect', {class: 'stripes', width: 6, height: 6}),
	element('path', {class: 'stripe', d: 'M0 0v6'})));
}

function flameView(section, page) {
	const {flame, stacks} = page.data, view = section.querySelector('.view');
	const picture = element('div', {class: 'flame', tabindex: 0, role: 'group',
		'aria-label': 'Flame graph: arrows go from frame to frame, Enter zooms, Escape shows all'});
	const said = element('output', {class: 'said'}), whole = element('button', {type: 'button'},
		'Show all');
	const rowsOf = new Map(); // by name: a frame is of all functions of its name
	let tree = flameTree(flame), zoomed = 0, at = 0, drawn = [], seen = false, stale = false;

	page.data.rows.name.forEach((name, row) => {
		if (!rowsOf.has(name))
			rowsOf.set(name, []);
		rowsOf.get(name).push(row);
	});
	const nameOf = (node) => (node === 0 ? 'all' : flame.names[flame.name[node]]);
	const isInlined = (node) => flame.kind[node] === 3 && nameOf(node).endsWith(' (inlined)');
	const rowsAt = (node) => (node && FRAME_KINDS[flame.kind[node]] === 'guest' &&
		rowsOf.get(nameOf(node)) || []);
	/* The function of a frame; of several of one name the selected one, else none. */
	const rowAt = (node) => {
		const rows = rowsAt(node);
		return rows.length === 1 ? rows[0] : rows.includes(page.selected) ? page.selected : -1;
	};

	function describe(node) {
		const own = tree.own[node], all = tree.total[node], whole = tree.total[0] || 1;
		return `${nameOf(node)}: ${percent(all / whole)}, ${amount(all, page.data.unit)}` +
			(own && own !== all ? `, own ${percent(own / whole)}` : '') +
			(node ? `, ${FRAME_KINDS[flame.kind[node]]}` : '') +
			(rowsAt(node).length > 1 ? ` (${rowsAt(node).length} functions of this name)` : '');
	}

	function draw() {
		const width = picture.clientWidth, frames = flameFrames(flame, tree, zoomed, width);
		const depth = frames.reduce((most, f) => Math.max(most, tree.depth[f.node]), 0);
		const height = (depth + 1) * FRAME_HEIGHT;
		const svg = element('svg', {class: 'hlg-flame', width, height, 'aria-hidden': 'true'},
			gapPattern());
		for (const f of frames)
			svg.append(frameElement(f, height));
		picture.replaceChildren(svg);
		drawn = frames;
		whole.hidden = zoomed === 0;
		stale = false;
		mark();
	}

	/* Many frames take long: those of another range are drawn where they can be seen. */
	function drawSeen() {
		if (seen && stale)
			draw();
	}

	function frameElement(f, height) {
		const name = nameOf(f.node);
		const words = frameLabel(name, tree.total[f.node], tree.total[0], f.width, CHARACTER);
		const y = height - (tree.depth[f.node] + 1) * FRAME_HEIGHT;
		const g = element('g', {'data-node': f.node,
			class: `f ${FRAME_CLASSES[flame.kind[f.node]]} s${shadeOf(name)}` +
				(isInlined(f.node) ? ' inlined' : '') +
				(tree.depth[f.node] < tree.depth[zoomed] ? ' below' : '')});
		g.append(element('rect', {x: f.x.toFixed(2), y, width: Math.max(0.3, f.width - 0.5).toFixed(2),
			height: FRAME_HEIGHT - 1}));
		if (words)
			g.append(element('text', {x: (f.x + 3).toFixed(2), y: y + FRAME_HEIGHT - 5}, words));
		return g;
	}

	/* What is found, selected, and where the keys are. */
	function mark() {
		let found = 0;
		for (const g of picture.querySelectorAll('g')) {
			const node = Number(g.dataset.node), row = rowAt(node);
			const match = page.words !== '' && nameOf(node).toLowerCase().includes(page.words);
			g.classList.toggle('hit', match);
			g.classList.toggle('chosen', row >= 0 && row === page.selected);
			g.classList.toggle('here', node === at && document.activeElement === picture);
			found += match;
		}
		said.textContent = (found ? `${count(found)} frames found. ` : '') + describe(at);
	}

	function zoom(node) {
		zoomed = at = node;
		draw();
	}

	/* The frame beside, below or above the one where the keys are, among those that are drawn. */
	function neighbour(key) {
		const visible = drawn.map((f) => f.node).filter((n) => n !== at);
		const level = tree.depth[at];
		const beside = visible.filter((n) => tree.depth[n] === level);
		switch (key) {
		case 'ArrowDown':
			return flame.parent[at];
		case 'ArrowUp':
			return visible.find((n) => flame.parent[n] === at);
		case 'ArrowLeft':
			return beside.filter((n) => tree.at[n] < tree.at[at]).pop();
		default:
			return beside.find((n) => tree.at[n] > tree.at[at]);
		}
	}

	picture.addEventListener('keydown', (event) => {
		if (event.key.startsWith('Arrow')) {
			const next = neighbour(event.key);
			if (next >= 0)
				at = next;
			mark();
		} else if (event.key === 'Enter') {
			page.select(rowAt(at));
			zoom(at);
		} else if (event.key === 'Escape') {
			zoom(0);
		} else {
			return;
		}
		event.preventDefault();
	});
	picture.addEventListener('pointermove', (event) => {
		const g = event.target.closest('g');
		said.textContent = describe(g ? Number(g.dataset.node) : at);
	});
	picture.addEventListener('click', (event) => {
		const g = event.target.closest('g');
		if (!g)
			return;
		const node = Number(g.dataset.node);
		page.select(rowAt(node));
		zoom(node === zoomed ? 0 : node);
	});
	picture.addEventListener('focus', mark);
	picture.addEventListener('blur', mark);
	whole.addEventListener('click', () => zoom(0));
	page.on('select', mark);
	page.on('search', mark);
	/* Whole where not each stack's time is there. */
	page.on('range', () => {
		note.hidden = page.whole();
		note.textContent = stacks ? `Of the chosen time: ${spanOfTime(page.data.time, page.from,
			page.to)}.` : 'Of all time, not of the chosen one: there are too many stacks.';
		if (!stacks)
			return;
		({tree} = page);
		if (!tree.total[zoomed])
			zoomed = at = 0;
		stale = true;
		mark();
		drawSeen();
	});
	const note = element('p', {class: 'summary'});
	note.hidden = true;
	view.append(note, element('div', {class: 'tools'}, whole, said), picture);
	new ResizeObserver(draw).observe(picture);
	new IntersectionObserver((entries) => {
		seen = entries.pop().isIntersecting;
		drawSeen();
	}).observe(picture);
	addEventListener('beforeprint', () => stale && draw());
	draw();
}
