# SPDX-License-Identifier: GPL-2.0-only
# bash completion of hlguest: verbs, options, values, ELF files and recordings.

# Adds the folders, and the files that begin with one of the words $2..., to COMPREPLY.
_hlguest_files()
{
	local cur=$1 path file head magic

	shift
	compopt -o filenames 2>/dev/null
	while IFS= read -r path; do
		file=${path/#\~\//$HOME/}
		if [[ -d $file ]]; then
			COMPREPLY+=("$path")
		elif [[ -f $file && -r $file ]]; then
			IFS= LC_ALL=C read -r -N 7 head <"$file" 2>/dev/null
			for magic; do
				[[ $head == "$magic"* ]] && COMPREPLY+=("$path")
			done
		fi
	done < <(compgen -f -- "$cur")
}

# The values of option $2 of verb $1, of which $3 is typed.
_hlguest_value()
{
	local cur=$3 words= done=

	case $1$2 in
	report--aliases | report--demangle | report--force | flame--demangle | flame--force | annotate--demangle | annotate--force | diff--demangle | diff--force | windows--demangle | exits--demangle | inject--demangle | inject--force | lookup--demangle) words='no yes' ;;
	report--format) words='text csv json folded pprof callgrind speedscope' ;;
	annotate--format) words='text json' ;;
	annotate--syntax) words='att intel' ;;
	flame--format) words='svg folded speedscope' ;;
	windows--format) words='csv text json svg' ;;
	exits--format | diff--format) words='text csv json' ;;
	sysprof--format) words='text folded json' ;;
	sysprof--mode) words='D L C' ;;
	sysprof--roots) words='state' ;;
	calibrate--format) words='text json csv html' ;;
	calibrate--only)
		words='crossing landing counting'
		[[ $cur == *,* ]] && done=${cur%,*},
		;;
	exits--by) words='tid' ;;
	lookup--format) words='text json' ;;
	report--gaps | diff--gaps | inject--gaps | flame--gaps) words='retag drop stretch' ;;
	report--mode | flame--mode | windows--mode) words='guest host all' ;;
	report--stacks | flame--stacks) words='leaf counters callgraph' ;;
	report--weight | annotate--weight | diff--weight | flame--weight) words='period samples' ;;
	report--by | annotate--by | flame--by)
		words='event pid tid cpu'
		[[ $cur == *,* ]] && done=${cur%,*},
		;;
	report--roots | flame--roots)
		words='comm tid image section'
		[[ $cur == *,* ]] && done=${cur%,*},
		;;
	record--event | record-e) words='cycles:G cpu-clock' ;;
	record--pid | record-p) words=$(compgen -G '/proc/[0-9]*') words=${words//\/proc\//} ;;
	report--input | report-i | annotate--input | annotate-i | base--input | base-i | diff--input | diff-i | flame--input | flame-i) _hlguest_files "$cur" PERFILE $'\x1f\x8b' ;;
	flame--before) _hlguest_files "$cur" $'\x7fELF' PERFILE $'\x1f\x8b' ;;
	windows--input | windows-i | exits--input | exits-i | inject--input | inject-i) _hlguest_files "$cur" PERFILE ;;
	report--out | annotate--out | diff--out | windows--out | exits--out | sysprof--out | flame--out | flame-o | calibrate--out | calibrate--save | report--calibration | record--output | record-o | merge--output | merge-o | inject--output | inject-o)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	esac
	[[ $words ]] && mapfile -t COMPREPLY < <(compgen -P "$done" -W "$words" -- "${cur##*,}")
}

_hlguest()
{
	local verbs='report annotate flame record windows merge base diff exits sysprof inject calibrate kallsyms lookup doctor help'
	local elf=$'\x7fELF' gzip=$'\x1f\x8b' cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}
	local prev=${COMP_WORDS[COMP_CWORD - 1]} valued short= long= word i

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$cur")
		return
	fi
	case $verb in
	report)
		short='-i -j -q'
		long='--input= --jobs= --quiet --aliases --by= --calibration= --cpu= --demangle --event=
			--force --format= --gaps= --min= --mode= --out= --pid= --region= --roots=
			--skid= --stacks= --tid= --time= --top= --weight='
		;;
	annotate)
		short='-i -j -q'
		long='--input= --jobs= --quiet --by= --cpu= --demangle --event= --force --format=
			--function= --min= --out= --pid= --skid= --syntax= --tid= --time= --top=
			--weight='
		;;
	flame)
		short='-i -j -o -q'
		long='--input= --jobs= --quiet --before= --by= --cpu= --demangle --event= --force
			--format= --gaps= --inverted --min= --mode= --out= --pid= --roots=
			--stacks= --tid= --time= --title= --weight='
		;;
	record)
		short='-a -c -e -F -H -o -p -W'
		long='--all-cpus --count= --event= --exits --freq= --host --output= --pid= --stacks
			--windows='
		;;
	windows)
		short='-i -q'
		long='--input= --quiet --between= --cpu= --demangle --event= --every=
			--format= --function= --hpctool --mode= --out= --pid= --rates --summary
			--tid= --time='
		;;
	merge)
		short='-o -q'
		long='--output= --quiet'
		;;
	base)
		short='-i -j -q'
		long='--input= --jobs= --quiet --cpu= --event= --pid= --tid= --time='
		;;
	diff)
		short='-i -j -q'
		long='--input= --jobs= --quiet --after --cpu= --demangle --event= --fail-if=
			--force --format= --gaps= --min= --out= --pid= --region= --tid= --time=
			--top= --weight='
		;;
	exits)
		short='-i -q'
		long='--input= --quiet --by= --demangle --exact --format= --out= --pid=
			--port= --reason= --tid= --time= --top='
		;;
	sysprof) long='--format= --mode= --out= --roots= --top=' ;;
	inject)
		short='-i -o -q'
		long='--input= --direct --output= --quiet --demangle --force --gaps='
		;;
	calibrate)
		short='-q'
		long='--quiet --deadline= --format= --only= --operations= --out= --runs= --save= --time='
		;;
	kallsyms) ;;
	lookup) long='--demangle --format= --inlines --own' ;;
	doctor) ;;
	help)
		((COMP_CWORD == 2)) &&
			mapfile -t COMPREPLY < <(compgen -W "${verbs% help}" -- "$cur")
		return
		;;
	*) return ;;
	esac
	valued='-c -e -F -i -j -o -p -W'

	# What follows record's command is the command's own.
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ $verb == record ]] || break
		word=${COMP_WORDS[i]}
		if [[ $word == -- ]] || [[ $word != -* && $word != = ]]; then
			[[ $word == -- ]] && ((i++))
			if ((i == COMP_CWORD)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			else
				compopt -o filenames 2>/dev/null
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			fi
			return
		fi
		# An option's value is no command: -o FILE, and --output = FILE as bash has it.
		if [[ " $valued " == *" $word "* ]]; then
			((i++))
		elif [[ ${COMP_WORDS[i + 1]} == = ]]; then
			((i += 2))
		fi
	done

	# bash takes --key=value apart at the =, if = is in COMP_WORDBREAKS.
	if [[ $cur == --*=* ]]; then
		_hlguest_value "$verb" "${cur%%=*}" "${cur#*=}"
		COMPREPLY=("${COMPREPLY[@]/#/${cur%%=*}=}")
	elif [[ $cur == = ]]; then
		_hlguest_value "$verb" "$prev" ''
	elif [[ $prev == = ]]; then
		_hlguest_value "$verb" "${COMP_WORDS[COMP_CWORD - 2]}" "$cur"
	elif [[ " $valued " == *" $prev "* && " $short " == *" $prev "* ]]; then
		_hlguest_value "$verb" "$prev" "$cur"
	elif [[ $prev == @ || $cur == @ ]]; then
		mapfile -t COMPREPLY < <(compgen -W auto -- "${cur#@}")
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$short $long --help --usage" -- "$cur")
		[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	elif [[ $prev == : ]]; then # map:FILE
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	else
		case $verb in
		report | annotate | base | diff | flame) _hlguest_files "$cur" "$elf" PERFILE "$gzip" ;;
		windows | exits | inject) _hlguest_files "$cur" "$elf" PERFILE ;;
		merge) _hlguest_files "$cur" "$gzip" ;;
		sysprof) _hlguest_files "$cur" ljs ;;
		record) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
		calibrate) ;;
		*) _hlguest_files "$cur" "$elf" ;;
		esac
	fi
}

complete -F _hlguest hlguest
