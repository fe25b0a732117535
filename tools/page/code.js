// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions: the listing of the selected function is opened, counts are those of the range of
 * time, and jumps within the function are arrows. The listings themselves are in the page.
 */

const ARROW_LANES = 8, ARROW_LANE = 6; // beside one another, px
const ARROW_LONGEST = 400; // lines: what is further off has its address only

/*
 * The lane of each arrow {from, to} (lines), so that none overlap: short ones are innermost.
 * -1: there is no room.
 */
function arrowLanes(arrows) {
	const order = arrows.map((a, i) => i).sort((a, b) =>
		Math.abs(arrows[a].to - arrows[a].from) - Math.abs(arrows[b].to - arrows[b].from));
	const lanes = new Array(arrows.length).fill(-1), taken = [];
	for (const i of order) {
		const low = Math.min(arrows[i].from, arrows[i].to);
		const high = Math.max(arrows[i].from, arrows[i].to);
		let lane = 0;
		while (taken[lane] && taken[lane].some(([a, b]) => a <= high && b >= low))
			lane++;
		if (lane >= ARROW_LANES || high - low > ARROW_LONGEST)
			continue;
		(taken[lane] = taken[lane] || []).push([low, high]);
		lanes[i] = lane;
	}
	return lanes;
}

/* As tools/report/html-code.c has it: how hot among the lines of the function. */
function lineHeat(share) {
	return [0, 0.05, 0.2, 0.5, 0.9].filter((level) => share > level).length;
}

function drawArrows(listing) {
	const lines = [...listing.querySelectorAll('.line')], indexOf = new Map();
	lines.forEach((line, i) => indexOf.set(line.dataset.at, i));
	const arrows = [];
	lines.forEach((line, from) => {
		const to = indexOf.get(line.dataset.to);
		if (to !== undefined && to !== from)
			arrows.push({from, to});
	});
	const lanes = arrowLanes(arrows), width = ARROW_LANES * ARROW_LANE + 8;
	const svg = element('svg', {class: 'arrows', width, height: listing.scrollHeight,
		'aria-hidden': 'true'});
	const middle = (i) => lines[i].offsetTop + lines[i].offsetHeight / 2;
	arrows.forEach(({from, to}, i) => {
		if (lanes[i] < 0)
			return;
		const x = width - 8 - lanes[i] * ARROW_LANE, y = middle(to), tip = width - 2;
		svg.append(element('path', {class: to < from ? 'back' : 'forth',
			d: `M${tip} ${middle(from)}H${x}V${y}H${tip}m-4 -3l4 3l-4 3`}));
	});
	listing.append(svg);
}

/* Counts of the lines of a function, in the range that is chosen. */
function countLines(page, details) {
	const row = Number(details.dataset.row), {addresses} = page.data;
	const first = lowerBound(addresses.row, row), end = lowerBound(addresses.row, row + 1);
	const counts = new Map();
	let most = 0;
	for (let i = first; i < end; i++) {
		counts.set(String(addresses.at[i]), page.addressCounts[i]);
		most = Math.max(most, page.addressCounts[i]);
	}
	for (const line of details.querySelectorAll('.line')) {
		const n = counts.get(line.dataset.at) || 0;
		line.className = 'line heat' + lineHeat(most ? n / most : 0);
		line.firstChild.textContent = n ? percent(n / page.counts[row]) : '';
	}
}

function codeView(section, page) {
	const all = [...section.querySelectorAll('details')];
	const note = element('p', {class: 'said', 'aria-live': 'polite'});
	section.querySelector('h2').after(note);
	for (const details of all)
		details.addEventListener('toggle', () => {
			const listing = details.querySelector('.listing');
			if (details.open && !listing.querySelector('.arrows'))
				drawArrows(listing);
			if (details.open)
				countLines(page, details);
		});
	page.on('select', () => {
		const row = page.selected, mine = all.find((d) => Number(d.dataset.row) === row);
		for (const details of all)
			details.open = details === mine;
		note.textContent = row >= 0 && !mine
			? page.data.rows.name[row] + ' is not among these.' : '';
	});
	page.on('range', () => {
		for (const details of all) {
			if (details.open)
				countLines(page, details);
			const row = Number(details.dataset.row);
			details.querySelector('summary').firstChild.textContent =
				percent(page.share(row)) + ' ';
		}
	});
}
