// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a flame graph that is a picture (tools/flame) does where scripts run: zoom, search, the frame under the pointer
 * told, keys. All it knows it reads from the picture's own elements:
 *
 *	<g class="f ..." data-at="WEIGHT TO THE LEFT" data-n="WEIGHT" data-d="DEPTH">
 *		<title>NAME\nWHAT IS KNOWN OF IT</title><rect/><text/>
 *	</g>
 *
 * parents before children. Names are text in every place, never markup.
 */
const SVG = 'http://www.w3.org/2000/svg', XHTML = 'http://www.w3.org/1999/xhtml';
const root = document.currentScript.closest('svg');
const graph = root.querySelector('.graph');
const BAR = 48, ROW = 18; // pixels: what is put in above the graph; tools/flame/graph.c has ROW, too
let up = graph.getAttribute('data-up') === 'yes'; // children stand above
const upright = up;
const frames = [], frameByElement = new Map();
let zoomed = null, current = null, charWidth = CHARACTER;

/* Frames, their parents, and where what stands on them ends. */
function readFrames() {
	const path = [];
	for (const g of graph.querySelectorAll('.f')) {
		const words = g.querySelector('title').textContent;
		const name = words.split('\n', 1)[0];
		const frame = {
			g, name, words, rect: g.querySelector('rect'),
			text: g.querySelector('text'), index: frames.length,
			at: Number(g.getAttribute('data-at')),
			n: Number(g.getAttribute('data-n')),
			depth: Number(g.getAttribute('data-d')),
		};
		frame.parent = path[frame.depth - 1] || null;
		frame.end = frame.index + 1;
		for (let above = frame.parent; above; above = above.parent)
			above.end = frame.index + 1;
		path[frame.depth] = frame;
		frames.push(frame);
		frameByElement.set(g, frame);
	}
}

function label(frame, x, y, width, pixels) {
	const {name, n, index} = frame, room = pixels * width / 100;
	const words = index ? frameLabel(name, n, frames[0].n, room, charWidth)
		: cutName(name, Math.floor((room - 6) / charWidth));
	if (!words) {
		if (frame.text)
			frame.text.textContent = '';
		return;
	}
	if (!frame.text) {
		frame.text = document.createElementNS(SVG, 'text');
		frame.text.setAttribute('dx', '3');
		frame.g.appendChild(frame.text);
	}
	frame.text.setAttribute('x', x + '%');
	frame.text.setAttribute('y', y + 13);
	frame.text.textContent = words;
}

function isBelow(frame, other) {
	return frame.index < other.index && other.index < frame.end;
}

/* Gives every frame its place; the zoomed one is as wide as the graph. */
function draw() {
	const pixels = graph.getBoundingClientRect().width || 1176;
	const top = zoomed || frames[0];
	for (const frame of frames) {
		const below = isBelow(frame, top);
		const shown = below || (frame.index >= top.index && frame.index < top.end);
		frame.g.setAttribute('display', shown ? 'inline' : 'none');
		frame.g.classList.toggle('below', below);
		if (!shown)
			continue;
		const x = below || !top.n ? 0 : 100 * (frame.at - top.at) / top.n;
		const width = below || !top.n ? 100 : 100 * frame.n / top.n;
		const y = ROW * (up ? depth - frame.depth : frame.depth);
		frame.rect.setAttribute('x', x.toFixed(4) + '%');
		frame.rect.setAttribute('y', y);
		frame.rect.setAttribute('width', width.toFixed(4) + '%');
		frame.g.classList.toggle('thin', width * pixels < 300);
		label(frame, x.toFixed(4), y, width, pixels);
	}
	reset.disabled = top === frames[0];
}

/*
 * What a link opens: #zoom=NUMBER OF THE FRAME&search=WORDS&flip=1. Inside a page the
 * fragment is the page's.
 */
const alone = root === document.documentElement;

function keep() {
	const state = new URLSearchParams();
	if (zoomed)
		state.set('zoom', zoomed.index);
	if (input.value)
		state.set('search', input.value);
	if (up !== upright)
		state.set('flip', '1');
	const fragment = '#' + state;
	if (!alone || (location.hash || '#') === fragment)
		return;
	try {
		history.replaceState(null, '', fragment);
	} catch (e) { /* where a page may not: no link, all else goes on */ }
}

function restore() {
	if (!alone)
		return;
	const state = new URLSearchParams(location.hash.slice(1));
	input.value = state.get('search') || '';
	up = upright !== (state.get('flip') === '1');
	find(input.value);
	zoom(frames[Number(state.get('zoom'))] || null);
}

function zoom(frame) {
	zoomed = frame && frame.index ? frame : null;
	draw();
	keep();
}

function flip() {
	up = !up;
	draw();
	keep();
}

function tell(frame) {
	const words = frame ? frame.words.split('\n') : [''];
	const name = document.createElementNS(XHTML, 'b');
	name.textContent = words[0];
	detail.replaceChildren(name, frame ? ' — ' + words.slice(1).join('; ') : '');
}

function select(frame) {
	if (!frame)
		return;
	if (current)
		current.g.setAttribute('tabindex', '-1');
	current = frame;
	frame.g.setAttribute('tabindex', '0');
	frame.g.focus();
	tell(frame);
}

/* A regular expression, or what is none as plain text; upper and lower case alike. */
function matcher(words) {
	try {
		return new RegExp(words, 'i');
	} catch (e) {
		return new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
	}
}

/* Marks what matches. A stack counts once, however many of its frames do. */
function find(words) {
	const expression = words && matcher(words);
	let sum = 0, count = 0, end = 0;
	for (const frame of frames) {
		const hit = Boolean(words) && frame.index > 0 && expression.test(frame.name);
		frame.g.classList.toggle('hit', hit);
		count += hit;
		if (hit && frame.index >= end) {
			sum += frame.n;
			end = frame.end;
		}
	}
	const share = frames[0].n ? 100 * sum / frames[0].n : 0;
	found.textContent = words ? 'matched ' + share.toFixed(2) + ' % in ' + count +
		(count === 1 ? ' frame' : ' frames') : '';
	keep();
}

function visible(frame) {
	return frame && frame.g.getAttribute('display') !== 'none';
}

function child(frame) {
	return frames.slice(frame.index + 1, frame.end).find(visible);
}

/* The next frame to the right (1) or left (-1) at this depth. */
function beside(frame, step) {
	for (let i = frame.index + step; frames[i]; i += step)
		if (frames[i].depth === frame.depth && visible(frames[i]))
			return frames[i];
	return null;
}

function onKey(event) {
	const frame = frameByElement.get(event.target);
	const move = {
		ArrowUp: (f) => (up ? child(f) : f.parent),
		ArrowDown: (f) => (up ? f.parent : child(f)),
		ArrowLeft: (f) => beside(f, -1),
		ArrowRight: (f) => beside(f, 1),
	}[event.key];
	if (event.key === 'Escape') {
		input.value = '';
		find('');
		zoom(null);
		current.g.focus();
	} else if (event.key === '/' && event.target !== input) {
		input.focus();
	} else if (frame && move) {
		select(move(frame));
	} else if (frame && (event.key === 'Enter' || event.key === ' ')) {
		zoom(frame);
	} else {
		return;
	}
	event.preventDefault();
}

function frameOf(event) {
	return frameByElement.get(event.target.closest('.f'));
}

function make(name, parent, attributes) {
	const element = document.createElementNS(XHTML, name);
	for (const key of Object.keys(attributes))
		element.setAttribute(key, attributes[key]);
	parent.appendChild(element);
	return element;
}

/* Room for the search above the graph, which only a script can use. */
function makeRoom() {
	const y = Number(graph.getAttribute('y'));
	const holder = document.createElementNS(SVG, 'foreignObject');
	holder.setAttribute('x', '1%');
	holder.setAttribute('y', String(y));
	holder.setAttribute('width', '98%');
	holder.setAttribute('height', String(BAR));
	root.insertBefore(holder, graph);
	graph.setAttribute('y', String(y + BAR));
	root.querySelector('.notes').setAttribute('transform', 'translate(0,' + BAR + ')');
	root.setAttribute('height', String(Number(root.getAttribute('height')) + BAR));
	root.setAttribute('width', '100%');
	return holder;
}

function measure() {
	const probe = document.createElementNS(SVG, 'text');
	frames[0].g.appendChild(probe);
	probe.textContent = 'm'.repeat(50);
	charWidth = probe.getComputedTextLength() / 50 || charWidth;
	probe.remove();
}

readFrames();
const depth = frames.reduce((most, frame) => Math.max(most, frame.depth), 0);
const holder = makeRoom();
const bar = make('div', holder, {class: 'bar'});
const input = make('input', bar, {
	type: 'search', placeholder: 'search (text or regular expression)',
	'aria-label': 'search frames', title: 'a key: /',
});
const reset = make('button', bar, {type: 'button', title: 'a key: Escape'});
const turn = make('button', bar, {type: 'button', title: 'callers above, or below'});
const found = make('output', bar, {});
const detail = make('div', holder, {class: 'detail', 'aria-live': 'polite'});

reset.textContent = 'reset zoom';
turn.textContent = 'flip';
measure();
for (const frame of frames) {
	frame.g.setAttribute('tabindex', frame.index ? '-1' : '0');
	frame.g.setAttribute('role', 'button');
}
current = frames[0];
draw();
input.addEventListener('input', () => find(input.value));
reset.addEventListener('click', () => zoom(null));
turn.addEventListener('click', flip);
graph.addEventListener('click', (event) => {
	const frame = frameOf(event);
	if (frame) {
		select(frame);
		zoom(frame);
	}
});
graph.addEventListener('mouseover', (event) => tell(frameOf(event) || current));
root.addEventListener('keydown', onKey);
window.addEventListener('resize', draw);
window.addEventListener('hashchange', restore);
restore();
