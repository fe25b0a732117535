// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the views that draw on a canvas share: sharpness, colours as pixels, the tip at the
 * pointer, redrawing.
 */

/* The last index of a sorted list of whole numbers whose value is at most that, or -1. */
function lastAtMost(list, value) {
	return lowerBound(list, Math.floor(value) + 1) - 1;
}

function clamp(value, low, high) {
	return Math.max(low, Math.min(high, value));
}

/* An element with classes and text, put into its parent. */
function put(parent, name, classes, ...children) {
	const made = element(name, classes ? {class: classes} : {}, ...children);
	parent.append(made);
	return made;
}

function putButton(parent, text, label, onClick) {
	const button = put(parent, 'button', '', text);
	button.type = 'button';
	button.title = label;
	if (text.length < 3)
		button.setAttribute('aria-label', label);
	button.addEventListener('click', onClick);
	return button;
}

/*
 * A canvas, which is a picture with a text and a keyboard's cursor, and one above it for what
 * changes as one points.
 */
function putStage(parent) {
	const canvas = put(parent, 'canvas', 'cells'), over = put(parent, 'canvas', 'over');
	canvas.setAttribute('role', 'img');
	canvas.tabIndex = 0;
	return {canvas, over};
}

/* A legend: returns what sets its words, colours, least and greatest value. */
function putRamp(parent) {
	const words = put(parent, 'span'), ramp = put(parent, 'canvas'), most = put(parent, 'span');
	ramp.setAttribute('aria-hidden', 'true');
	return (text, ramped, greatest) => {
		const context = openCanvas(ramp, 6 * HEATS, 10);
		words.textContent = text;
		most.textContent = greatest;
		ramped.forEach((colour, i) => {
			context.fillStyle = colour;
			context.fillRect(6 * i, 0, 6, 10);
		});
	};
}

/*
 * Gives a canvas its size in CSS pixels, empties it; its context, in which these count. With a
 * colour behind it, it can be read on paper, too, whatever scheme it was drawn for.
 */
function openCanvas(canvas, width, height, back) {
	const ratio = window.devicePixelRatio || 1;
	const across = Math.max(1, Math.round(width * ratio)), down = Math.max(1, Math.round(height * ratio));
	const context = canvas.getContext('2d');
	/* A size that is set, if it is the same, costs memory and the page's layout anew. */
	if (canvas.width !== across || canvas.height !== down) {
		canvas.width = across;
		canvas.height = down;
	}
	canvas.style.width = width + 'px';
	canvas.style.height = height + 'px';
	context.setTransform(across / width, 0, 0, down / height, 0, 0);
	context.globalAlpha = 1;
	context.clearRect(0, 0, width, height);
	context.fillStyle = back || 'transparent';
	context.fillRect(0, 0, width, height);
	return context;
}

/* Colours as the page has them now; asked for once, as an answer takes all that changed to be laid out. */
const knownColours = new Map();

function colours(view) {
	const dark = isDark();
	if (!knownColours.has(dark))
		knownColours.set(dark, readColours(view));
	return knownColours.get(dark);
}

function readColours(view) {
	const style = getComputedStyle(view), of = (name) => style.getPropertyValue(name).trim();
	return {
		font: style.fontFamily,
		text: style.color,
		back: of('--back'),
		cold: of('--cold'),
		mark: of('--accent'),
		found: of('--found'),
		bad: of('--bad'),
		kinds: LANE_KINDS.map((kind, k) => of('--kind' + k)),
		heat: heatColours(isDark()).map((rgb) => `rgb(${rgb})`),
	};
}

/* CSS colours as the words of an ImageData. */
function pixelsOf(list) {
	const context = element('canvas', {width: list.length, height: 1}).getContext('2d');
	list.forEach((colour, i) => {
		context.fillStyle = colour;
		context.fillRect(i, 0, 1, 1);
	});
	return new Uint32Array(context.getImageData(0, 0, list.length, 1).data.buffer);
}

/* Where in the colours of heat a part of the maximum is, by itself, not by its logarithm. */
function evenHeat(part) {
	return clamp(Math.ceil(part * HEATS), 1, HEATS) - 1;
}

/* What stands at the pointer or the keyboard's cursor; read aloud when the latter moves. */
function tipOf(view) {
	const tip = put(view, 'div', 'tip');
	tip.hidden = true;
	const spoken = put(view, 'p', 'spoken');
	spoken.setAttribute('role', 'status');
	let x = 0, y = 0;
	/* With what else is drawn: to ask for its size takes all that changed to be laid out. */
	const place = redrawer(() => {
		const width = tip.offsetWidth, room = view.clientWidth;
		const below = y + 22, height = tip.offsetHeight;
		const above = y - height - 14;
		tip.style.left = clamp(x + 12, 0, Math.max(0, room - width)) + 'px';
		tip.style.top = (below + height > view.clientHeight && above > 0 ?
			above : below) + 'px';
	});
	return {
		show(atX, atY, lines, aloud) {
			tip.replaceChildren(...lines.map((line, i) => element(i ? 'div' : 'b', {}, line)));
			tip.hidden = false;
			[x, y] = [atX, atY];
			place();
			if (aloud)
				spoken.textContent = lines.join('; ');
		},
		hide() {
			tip.hidden = true;
		},
	};
}

/* Calls draw before the next frame, once however often it is asked. */
function redrawer(draw) {
	let asked = false;
	return () => {
		if (asked)
			return;
		asked = true;
		requestAnimationFrame(() => {
			asked = false;
			draw();
		});
	};
}

/*
 * Draws again when the view's width, the screen's ratio or the colours are others. What it
 * returns does, too, but what is out of sight not before it is seen, or printed.
 */
function watchLooks(view, page, draw) {
	let seen = true, stale = false;
	const resized = redrawer(draw); // else the page would be as wide as it was
	const drawStale = () => {
		if (stale)
			draw();
		stale = false;
	};
	const redraw = redrawer(() => {
		stale = true;
		if (seen)
			drawStale();
	});
	new IntersectionObserver((entries) => {
		seen = entries.pop().isIntersecting;
		if (seen)
			drawStale();
	}).observe(view);
	addEventListener('beforeprint', drawStale);
	let width = view.clientWidth;
	new ResizeObserver(() => {
		if (view.clientWidth !== width)
			resized();
		width = view.clientWidth;
	}).observe(view);
	window.addEventListener('resize', resized);
	page.on('scheme', draw); // at once: what is printed is drawn anew before
	return redraw;
}
