// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads: a lane for each, the busiest first; by slice the samples in the guest, in the
 * host's user and kernel code, stacked. All lanes have one scale.
 */
const LANE = 36, LANES = 8; // pixels; lanes before one asks for more
const LANE_KINDS = ['guest', 'host user', 'host kernel', 'other']; // by -what

/* Entries of each thread: those of t are order[begin[t]] to order[begin[t + 1]]. */
function threadIndex(time, threads) {
	const begin = new Int32Array(threads + 1), n = time.at.length;
	const order = new Int32Array(n), next = new Int32Array(threads);
	for (let i = 0; i < n; i++)
		begin[time.thread[i] + 1]++;
	for (let t = 0; t < threads; t++) {
		next[t] = begin[t];
		begin[t + 1] += begin[t];
	}
	for (let i = 0; i < n; i++)
		order[next[time.thread[i]]++] = i;
	return {begin, order};
}

/* Sums by slice of a thread, as LANE_KINDS. */
function laneSums(time, index, thread) {
	const sums = LANE_KINDS.map(() => new Float64Array(time.n));
	for (let k = index.begin[thread]; k < index.begin[thread + 1]; k++) {
		const i = index.order[k];
		sums[Math.max(0, -time.what[i])][time.at[i]] += time.count[i];
	}
	return sums;
}

/* Numbers of the threads, that of most samples first. */
function busiest(time, threads) {
	const all = new Float64Array(threads);
	for (let i = 0; i < time.at.length; i++)
		all[time.thread[i]] += time.count[i];
	return [...all.keys()].sort((a, b) => all[b] - all[a] || a - b);
}

/* Means of slices by pixel: several slices in a pixel, or several pixels for a slice. */
function laneMeans(sums, width) {
	const n = sums.length, means = new Float64Array(width);
	for (let x = 0; x < width; x++) {
		const from = Math.floor(x * n / width);
		const to = Math.max(from + 1, Math.floor((x + 1) * n / width));
		means[x] = sumOf(sums, from, to) / (to - from);
	}
	return means;
}

/* ---- the view ---- */

function threadsView(section, page) {
	const {data} = page, {time} = data, tids = data.threads.tid;
	const parent = section.querySelector('.view'), index = threadIndex(time, tids.length);
	const legend = put(put(parent, 'div', 'tools'), 'span', 'legend');
	const view = put(parent, 'div', 'lanes'), lanes = [], tip = tipOf(view);
	const busy = busiest(time, tids.length);
	const seen = LANE_KINDS.map((kind, k) => time.what.some((what) => Math.max(0, -what) === k));
	let colour = null;

	LANE_KINDS.forEach((kind, k) => seen[k] && put(legend, 'span', 'key kind' + k, kind));
	const scale = put(legend, 'span');
	const more = putButton(parent, '', 'shows further lanes', () => {
		addLanes(lanes.length + 2 * LANES);
		redraw();
	});

	function addLanes(to) {
		for (const i of busy.slice(lanes.length, to)) {
			const row = put(view, 'div', 'lane'), label = put(row, 'div', 'name');
			const name = tids[i] < 0 ? 'all threads' : 'tid ' + tids[i];
			put(label, 'b', '', name);
			const lane = {row, label, name, said: put(label, 'span'), shape: null,
				sums: laneSums(time, index, i), ...putStage(put(row, 'div', 'stage'))};
			lane.chooser = chooserOf(lane.canvas, page, {
				at: (event, nearest) => timeHit(lane.shape, event.offsetX, 0, nearest),
				steps: {ArrowLeft: -1, ArrowRight: 1},
				tell: (slice, aloud) => tellSlice(lane, slice, aloud),
				hide: tip.hide,
				draw: () => drawOver(lane),
			});
			lanes.push(lane);
		}
		more.hidden = lanes.length >= busy.length;
		more.textContent = count(busy.length - lanes.length) + ' more threads';
	}

	function tellSlice(lane, slice, aloud) {
		const [x, , wide] = timeCell(lane.shape, slice), lines = LANE_KINDS.map((kind, k) =>
			seen[k] && kind + ': ' + amount(lane.sums[k][slice], data.unit)).filter(Boolean);
		tip.show(lane.label.offsetWidth + x + wide, lane.row.offsetTop + LANE / 2,
			[lane.name + ', ' + spanOfTime(time, slice, slice + 1), ...lines], aloud);
	}

	function draw() {
		const width = lanes.length ? lanes[0].canvas.parentNode.clientWidth : 0;
		if (width < 60)
			return;
		colour = colours(view);
		const means = lanes.map((lane) => lane.sums.map((sums) => laneMeans(sums, width)));
		let top = 0;
		for (const mean of means)
			for (let x = 0; x < width; x++)
				top = Math.max(top, mean.reduce((sum, kind) => sum + kind[x], 0));
		lanes.forEach((lane, i) => drawLane(lane, means[i], width, top));
		scale.textContent = 'the busiest first; full height: ' + amount(top, data.unit) + ' in ' + amount(time.slice, 'ns');
	}

	function drawLane(lane, means, width, top) {
		const context = openCanvas(lane.canvas, width, LANE, colour.back), feet = new Float64Array(width);
		lane.shape = timeStrip(time.n, width, LANE);
		context.fillStyle = colour.cold;
		context.fillRect(0, LANE - 1, width, 1);
		means.forEach((mean, kind) => {
			context.fillStyle = colour.kinds[kind];
			for (let x = 0; x < width; x++) {
				const high = mean[x] * (LANE - 2) / top;
				if (high > 0)
					context.fillRect(x, LANE - 1 - feet[x] - high, 1, high);
				feet[x] += high;
			}
		});
		drawOver(lane);
	}

	function drawOver(lane) {
		if (!lane.shape)
			return;
		const [from, to] = drawChosen(lane.over, lane.shape, lane.chooser, colour);
		const parts = lane.sums.map((sums) => sumOf(sums, from, to));
		const all = parts.reduce((a, b) => a + b), share = (n) => percent(all ? n / all : 0);
		lane.said.textContent = all ? 'guest ' + share(parts[0]) : 'no samples';
		lane.canvas.setAttribute('aria-label', 'Lane of ' + lane.name +
			(to - from < time.n ? ' in the selected time: ' : ': ') +
			LANE_KINDS.map((kind, k) => kind + ' ' + share(parts[k])).join(', '));
	}

	const redraw = watchLooks(view, page, draw);
	page.on('range', () => lanes.forEach(drawOver));
	addLanes(LANES);
	draw();
}
