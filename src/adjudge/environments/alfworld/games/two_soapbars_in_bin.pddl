; A bathroom: one bar lies open, the other is in the closed cabinet.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem two_soapbars_in_bin)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 loc_5 - location
    countertop_bar_1 cabinet_bar_1 garbagecan_bar_1 sink_bar_1_bar_basin towelholder_bar_1 - receptacle
    soapbar_bar_2 cloth_bar_1 soapbar_bar_1 toiletpaper_bar_1 handtowel_bar_1 - object
    CabinetType CounterTopType FridgeType GarbageCanType MicrowaveType SinkBasinType TowelHolderType - rtype
    ButterKnifeType ClothType HandTowelType KnifeType SoapBarType ToiletPaperType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation countertop_bar_1 loc_1) (receptacleType countertop_bar_1 CounterTopType)
    (receptacleAtLocation cabinet_bar_1 loc_2) (receptacleType cabinet_bar_1 CabinetType) (openable cabinet_bar_1)
    (receptacleAtLocation garbagecan_bar_1 loc_3) (receptacleType garbagecan_bar_1 GarbageCanType)
    (receptacleAtLocation sink_bar_1_bar_basin loc_4) (receptacleType sink_bar_1_bar_basin SinkBasinType)
    (receptacleAtLocation towelholder_bar_1 loc_5) (receptacleType towelholder_bar_1 TowelHolderType)
    (inReceptacle soapbar_bar_2 countertop_bar_1) (objectAtLocation soapbar_bar_2 loc_1) (objectType soapbar_bar_2 SoapBarType) (pickupable soapbar_bar_2)
    (inReceptacle cloth_bar_1 countertop_bar_1) (objectAtLocation cloth_bar_1 loc_1) (objectType cloth_bar_1 ClothType) (pickupable cloth_bar_1) (cleanable cloth_bar_1)
    (inReceptacle soapbar_bar_1 cabinet_bar_1) (objectAtLocation soapbar_bar_1 loc_2) (objectType soapbar_bar_1 SoapBarType) (pickupable soapbar_bar_1)
    (inReceptacle toiletpaper_bar_1 cabinet_bar_1) (objectAtLocation toiletpaper_bar_1 loc_2) (objectType toiletpaper_bar_1 ToiletPaperType) (pickupable toiletpaper_bar_1)
    (inReceptacle handtowel_bar_1 towelholder_bar_1) (objectAtLocation handtowel_bar_1 loc_5) (objectType handtowel_bar_1 HandTowelType) (pickupable handtowel_bar_1)
    (canContain CabinetType ClothType) (canContain CabinetType HandTowelType) (canContain CabinetType SoapBarType) (canContain CabinetType ToiletPaperType)
    (canContain CounterTopType ClothType) (canContain CounterTopType HandTowelType) (canContain CounterTopType SoapBarType) (canContain CounterTopType ToiletPaperType)
    (canContain GarbageCanType ClothType) (canContain GarbageCanType HandTowelType) (canContain GarbageCanType SoapBarType) (canContain GarbageCanType ToiletPaperType)
    (canContain SinkBasinType ClothType) (canContain SinkBasinType HandTowelType) (canContain SinkBasinType SoapBarType) (canContain SinkBasinType ToiletPaperType)
    (canContain TowelHolderType ClothType) (canContain TowelHolderType HandTowelType) (canContain TowelHolderType SoapBarType) (canContain TowelHolderType ToiletPaperType)
  )
  (:goal (exists (?r - receptacle ?one - object ?other - object)
    (and (receptacleType ?r GarbageCanType) (not (= ?one ?other))
      (objectType ?one SoapBarType) (inReceptacle ?one ?r) (objectType ?other SoapBarType) (inReceptacle ?other ?r))))
  (:metric minimize (total-cost))
)
