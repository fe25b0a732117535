// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time as FlameScope draws it: a column is TIME_ROWS slices, downwards, columns go on to the
 * right; a colour for the samples of each slice. Short recordings are a strip of bars. Of
 * several recordings each begins a column of its own.
 */
const TIME_ROWS = 50, TIME_CELL = 6, TIME_BARS = 96, TIME_AXIS = 16; // slices; pixels

/* ---- where things are ---- */

/* A strip: slices beside one another. */
function timeStrip(n, width, height) {
	return {n, strip: true, left: 0, wide: width / n, width, height};
}

/* starts: the first slice of each recording. */
function timeShape(n, width, starts = [0]) {
	const cells = [0], gutter = 54; // where recordings begin, and the end
	starts.forEach((start, i) => {
		const slices = (i + 1 < starts.length ? starts[i + 1] : n) - start;
		cells.push(cells[i] + Math.ceil(slices / TIME_ROWS) * TIME_ROWS);
	});
	const columns = cells[starts.length] / TIME_ROWS;
	const wide = Math.min(96, Math.floor(2 * (width - gutter) / columns) / 2);
	if (n <= 3 * TIME_ROWS || wide < 1)
		return timeStrip(n, width, TIME_BARS);
	return {n, strip: false, columns, starts, cells, left: gutter, wide, width,
		height: TIME_ROWS * TIME_CELL};
}

/* Left, top, width, height of a slice's cell. */
function timeCell(shape, slice) {
	if (shape.strip)
		return [slice * shape.wide, 0, shape.wide, shape.height];
	const i = lastAtMost(shape.starts, slice), cell = slice - shape.starts[i] + shape.cells[i];
	return [shape.left + Math.floor(cell / TIME_ROWS) * shape.wide,
		cell % TIME_ROWS * TIME_CELL, shape.wide, TIME_CELL];
}

/* The slice at a point, the nearest one if asked so, else -1 where there is none. */
function timeHit(shape, x, y, nearest) {
	const last = shape.n - 1, across = Math.floor((x - shape.left) / shape.wide);
	if (shape.strip)
		return nearest || (across >= 0 && across <= last) ? clamp(across, 0, last) : -1;
	const row = Math.floor(y / TIME_CELL);
	const column = nearest ? clamp(across, 0, shape.columns - 1) : across;
	const cell = column * TIME_ROWS + (nearest ? clamp(row, 0, TIME_ROWS - 1) : row);
	const i = clamp(lastAtMost(shape.cells, cell), 0, shape.starts.length - 1);
	const end = i + 1 < shape.starts.length ? shape.starts[i + 1] - 1 : last;
	const slice = shape.starts[i] + cell - shape.cells[i];
	if (nearest)
		return Math.min(slice, end);
	return row >= 0 && row < TIME_ROWS && column >= 0 && slice <= end ? slice : -1;
}

/* The corners of a range's outline, slices from..to. */
function timeOutline(shape, from, to) {
	const [x0, y0] = timeCell(shape, from), [xe, ye] = timeCell(shape, to - 1);
	const x1 = xe + shape.wide, {wide, height} = shape;
	if (shape.strip)
		return [[x0, 0], [x1, 0], [x1, height], [x0, height]];
	const y1 = ye + TIME_CELL;
	if (x0 === xe)
		return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
	return [[x0, y0], [x0 + wide, y0], [x0 + wide, 0], [x1, 0], [x1, y1], [xe, y1],
		[xe, height], [x0, height]];
}

/* The slices that a hand went over, half open, whichever way it went. */
function rangeOf(one, other) {
	return [Math.min(one, other), Math.max(one, other) + 1];
}

/* A step for the axis so that ticks are that far apart at least: 1, 2 or 5 times 10^k. */
function tickStep(least) {
	const power = 10 ** Math.floor(Math.log10(least));
	return power * [1, 2, 5, 10].find((k) => k * power >= least * (1 - 1e-9));
}

const EXITS = ['', 'VM exits', 'exits to the VMM']; // by the marks' kind

/* Which exits are shown: all, or those to the VMM where only these were recorded; 0: none. */
function exitKind(marks) {
	return [1, 2].find((kind) => marks.kind.includes(kind)) || 0;
}

/*
 * Sums by slice: the guest's, the host's, of these user's and kernel's; VM exits and lost events,
 * which are marks.
 */
function timeSums(time, marks) {
	const sums = {};
	for (const kind of ['guest', 'host', 'user', 'kernel', 'exits', 'lost'])
		sums[kind] = new Float64Array(time.n);
	const exits = exitKind(marks);
	marks.kind.forEach((kind, i) => {
		if (kind === 0 || kind === exits)
			sums[kind ? 'exits' : 'lost'][marks.at[i]] += marks.count[i];
	});
	for (let i = 0; i < time.at.length; i++) {
		const what = time.what[i], n = time.count[i], slice = time.at[i];
		sums[what < 0 ? 'host' : 'guest'][slice] += n;
		if (what === -1 || what === -2)
			sums[what === -1 ? 'user' : 'kernel'][slice] += n;
	}
	return sums;
}

/* Sums by slice of a row, evenly over those that where has as one; zeros for -1. */
function timeRow(time, where, addressRow, row) {
	const sums = new Float64Array(time.n);
	for (let i = 0; i < where.at.length && row >= 0; i++)
		if (addressRow[where.what[i]] === row) {
			const from = where.begins[where.at[i]], to = where.begins[where.at[i] + 1];
			for (let slice = from; slice < to; slice++)
				sums[slice] += where.count[i] / (to - from);
		}
	return sums;
}

/* ---- choosing a range, here and in the lanes of threads ---- */

/*
 * Pointer and keys on a canvas. at(event, nearest): slice; steps: slices by arrow; tell(slice,
 * aloud), hide(), draw(): for the view, which draws chooser.cursor and chooser.range().
 */
function chooserOf(canvas, page, {at, steps, tell, hide, draw}) {
	const {n} = page.data.time, chooser = {cursor: -1};
	let anchor = -1, held = -1, to = -1;

	chooser.range = () => (held >= 0 && to !== held ? rangeOf(held, to) : [page.from, page.to]);
	const release = (event) => {
		if (held >= 0 && to !== held && event.type === 'pointerup')
			page.range(...rangeOf(held, to));
		held = -1;
		draw();
	};
	canvas.tabIndex = 0;
	canvas.addEventListener('pointerdown', (event) => {
		const slice = event.button ? -1 : at(event, true);
		if (slice < 0)
			return;
		canvas.setPointerCapture(event.pointerId);
		if (event.shiftKey && anchor >= 0) {
			page.range(...rangeOf(anchor, slice));
			return;
		}
		held = to = anchor = slice;
	});
	canvas.addEventListener('pointermove', (event) => {
		const slice = at(event, held >= 0);
		if (held >= 0)
			to = slice;
		chooser.cursor = slice;
		if (slice < 0)
			hide();
		else
			tell(slice, false);
		draw();
	});
	canvas.addEventListener('pointerup', release);
	canvas.addEventListener('pointercancel', release);
	for (const type of ['pointerleave', 'blur'])
		canvas.addEventListener(type, () => {
			if (type === 'pointerleave' && document.activeElement === canvas)
				return;
			chooser.cursor = -1;
			hide();
			draw();
		});
	canvas.addEventListener('keydown', (event) => {
		const step = {...steps, Home: -n, End: n}[event.key];
		if (event.key === 'Escape') {
			held = anchor = chooser.cursor = -1;
			hide();
			page.range(0, n);
			draw();
		} else if (step && !event.ctrlKey && !event.metaKey && !event.altKey) {
			const old = chooser.cursor < 0 ? page.from : chooser.cursor;
			chooser.cursor = chooser.cursor < 0 && Math.abs(step) < n ? old :
				clamp(old + step, 0, n - 1);
			if (event.shiftKey)
				page.range(...rangeOf(anchor < 0 ? anchor = old : anchor, chooser.cursor));
			else
				anchor = chooser.cursor;
			draw();
			tell(chooser.cursor, true);
		} else {
			return;
		}
		event.preventDefault();
	});
	return chooser;
}

/* How many slices are one where functions are counted: of very many addresses more than one. */
function stepOf(begins) {
	return begins.reduce((most, at, i) => Math.max(most, i && at - begins[i - 1]), 1);
}

/* When slices from..to were, of which recordings; the first may begin before its recording. */
function spanOfTime({recordings, slice}, from, to) {
	const {at, first, path} = recordings, [i, k] = [from, to - 1].map((n) => lastAtMost(at, n));
	const begin = (n, r) => Math.max(0, first[r] + (n - at[r]) * slice);
	const when = (n, r) => seconds(begin(n, r));
	const name = (r) => (at.length > 1 ? `recording ${r + 1} ` : '');
	if (i !== k)
		return `${name(i)}at ${when(from, i)} to ${name(k)}at ${when(to, k)}`;
	const little = when(from, i) === when(to, i) && begin(to, i) > begin(from, i);
	const [start, end] = [from, to].map((n) => (little ? (begin(n, i) / 1e9).toFixed(4) + ' s' : when(n, i)));
	return (name(i) && name(i) + `(${path[i]}): `) + start + ' to ' + end;
}

/* What is said of a slice. */
function sliceWords(page, sums, slice) {
	const lines = [spanOfTime(page.data.time, slice, slice + 1)];
	for (const [name, kind] of [['guest', 'guest'], ['selected function', 'row'],
		['host', 'host'], ['user mode of the host', 'user'], ['kernel of the host', 'kernel']])
		if (kind === 'guest' || sums[kind][slice])
			lines.push(name + ': ' + amount(sums[kind][slice], page.data.unit));
	for (const [name, kind] of [[EXITS[exitKind(page.data.marks)], 'exits'],
		['events lost', 'lost']])
		if (sums[kind][slice])
			lines.push(name + ': ' + count(sums[kind][slice]));
	return lines;
}

/* Where the cursor is and what is chosen: what is not chosen fades. */
function drawChosen(over, shape, chooser, colour) {
	const context = openCanvas(over, shape.width, shape.height), [from, to] = chooser.range();
	const outline = (first, last) => {
		const [start, ...corners] = timeOutline(shape, first, last);
		context.moveTo(...start);
		corners.forEach(([x, y]) => context.lineTo(x, y));
		context.closePath();
	};
	context.lineWidth = 2;
	if (to - from < shape.n) {
		context.beginPath();
		context.rect(shape.left, 0, shape.width - shape.left, shape.height);
		outline(from, to);
		context.fillStyle = colour.back;
		context.globalAlpha = 0.6;
		context.fill('evenodd');
		context.globalAlpha = 1;
		context.beginPath();
		outline(from, to);
		context.strokeStyle = colour.mark;
		context.stroke();
	}
	if (chooser.cursor >= 0) {
		context.beginPath();
		outline(chooser.cursor, chooser.cursor + 1);
		context.strokeStyle = colour.text;
		context.stroke();
	}
	return [from, to];
}

/* ---- the view ---- */

function timeView(section, page) {
	const {data} = page, {time} = data;
	const parent = section.querySelector('.view'), tools = put(parent, 'div', 'tools');
	const columns = put(parent, 'p', 'summary');
	const view = put(parent, 'div', 'stage'), {canvas, over} = putStage(view);
	const said = put(parent, 'p', 'said'), tip = tipOf(view);
	const group = put(tools, 'span', 'choice');
	const kinds = {guest: 'Guest', host: 'Host', row: 'Selected function'}, buttons = {};
	if (exitKind(data.marks))
		kinds.exits = EXITS[exitKind(data.marks)];
	const across = time.n <= 3 * TIME_ROWS ? 1 : TIME_ROWS; // slices that are beside one another
	const starts = time.recordings.at;
	const step = stepOf(data.where.begins);
	const untimed = data.total - data.where.count.reduce((a, b) => a + b, 0);
	const sums = timeSums(time, data.marks);
	let kind = 'guest', shape = null, colour = null;

	group.setAttribute('role', 'group');
	group.setAttribute('aria-label', 'colour by samples of');
	for (const key of Object.keys(kinds))
		buttons[key] = putButton(group, kinds[key], 'colour by samples of: ' + kinds[key],
			() => {
				kind = key;
				redraw();
			});
	const whole = putButton(tools, 'Whole time', 'selects all (Esc)',
		() => page.range(0, time.n));
	const setRamp = putRamp(put(tools, 'span', 'legend'));

	const chooser = chooserOf(canvas, page, {
		at: (event, nearest) => timeHit(shape, event.offsetX, event.offsetY, nearest),
		steps: {ArrowUp: -1, ArrowDown: 1, ArrowLeft: -across, ArrowRight: across},
		tell(slice, aloud) {
			const [x, y, wide] = timeCell(shape, slice);
			tip.show(x + wide, y, sliceWords(page, sums, slice), aloud);
		},
		hide: tip.hide,
		draw: drawOver,
	});

	function draw() {
		const width = view.clientWidth, counts = sums[kind];
		if (width < 60)
			return;
		colour = colours(view);
		shape = timeShape(time.n, width, starts);
		const context = openCanvas(canvas, width, shape.height + TIME_AXIS, colour.back);
		const top = counts.reduce((a, b) => Math.max(a, b), 0);
		drawSlices(context, counts, top);
		drawAxes(context);
		columns.hidden = shape.strip;
		columns.textContent = `A column is ${amount(TIME_ROWS * time.slice, 'ns')}, from its top down` +
			(starts.length > 1 ? '; each recording begins with a new one.' : '.');
		for (const key of Object.keys(kinds))
			buttons[key].setAttribute('aria-pressed', key === kind);
		buttons.row.disabled = page.selected < 0 && kind !== 'row';
		setRamp('in ' + amount(time.slice, 'ns') + ': 0', colour.heat,
			kind === 'exits' ? count(top) : amount(top, data.unit));
		drawOver();
	}

	function drawSlices(context, counts, top) {
		const gap = shape.wide >= 5 ? 1 : 0;
		counts.forEach((n, slice) => {
			const [x, y, wide, high] = timeCell(shape, slice);
			const bar = shape.strip ? Math.max(2, n ? high * n / top : 0) : high;
			context.fillStyle = n ? colour.heat[evenHeat(n / top)] : colour.cold;
			context.fillRect(x, y + high - bar, wide - gap, bar);
			if (sums.lost[slice]) {
				context.strokeStyle = colour.bad;
				context.lineWidth = 2;
				context.strokeRect(x + 1, y + 1, wide - gap - 2, high - 2);
			}
		});
	}

	function drawAxes(context) {
		const least = (shape.strip ? 1 : TIME_ROWS) * time.slice;
		const per = shape.wide / least, step = Math.max(least, tickStep(70 / per));
		context.font = '11px ' + colour.font;
		context.fillStyle = colour.text;
		const taken = [], begins = [], ticks = []; // the starts of recordings go first
		starts.forEach((start, i) => {
			const end = i + 1 < starts.length ? starts[i + 1] : time.n;
			const begin = timeCell(shape, start)[0], first = Math.min(0, time.recordings.first[i]);
			for (let t = 0; t < (end - start) * time.slice; t += step)
				(t ? ticks : begins).push({x: begin + (t - (shape.strip ? first : 0)) * per,
					text: (starts.length > 1 && !t ? `${i + 1}: ` : '') + seconds(t)});
			if (i)
				context.fillRect(Math.max(0, begin - 1), 0, 1, shape.height + TIME_AXIS);
		});
		for (const {x, text} of begins.concat(ticks)) {
			const wide = context.measureText(text).width;
			if (x + wide <= shape.width && takeRoom(taken, x, x + wide + 6, wide))
				context.fillText(text, x, shape.height + 12);
		}
		for (let row = 0; !shape.strip && row < TIME_ROWS; row += 10)
			context.fillText('+' + seconds(row * time.slice), 0, row * TIME_CELL + 9);
	}

	function drawOver() {
		if (!shape)
			return;
		const [from, to] = drawChosen(over, shape, chooser, colour), all = to - from === time.n;
		const n = sumOf(sums.guest, from, to), host = sumOf(sums.host, from, to);
		const exits = sumOf(sums.exits, from, to), lost = sumOf(sums.lost, from, to);
		said.textContent = (all ? 'Whole time: ' : 'Selected: ') + spanOfTime(time, from, to) +
			', guest ' + amount(n, data.unit) +
			(all ? '' : ', ' + percent(data.guest ? n / data.guest : 0) + ' of all') +
			(host ? '; host ' + amount(host, data.unit) : '') +
			(exits ? '; ' + count(exits) + ' ' + kinds.exits : '') +
			(lost ? '; ' + count(lost) + ' events lost, where there is a frame' : '') +
			(untimed > 0 ? `; ${amount(untimed, data.unit)} without a time are not here` : '') +
			(all ? '. Drag over slices to look at these alone' : '') + (step > 1 ?
			`. So many addresses were met that time is selected in steps of ${
				amount(step * time.slice, 'ns')}.` : '.');
		whole.disabled = all;
		canvas.setAttribute('aria-label', 'Heat map of samples by time (' +
			kinds[kind].toLowerCase() + '), ' + time.n + ' slices. ' + said.textContent +
			' Arrow keys move a cursor, with Shift they select, Escape selects all.');
	}

	const redraw = watchLooks(view, page, draw);
	const follow = () => {
		sums.row = timeRow(time, data.where, data.addresses.row, page.selected);
		redraw();
	};
	page.on('select', follow);
	page.on('range', drawOver);
	follow();
}
